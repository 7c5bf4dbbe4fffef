export const AuditPage = () => <p>STUB</p>
