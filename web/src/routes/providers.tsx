export const ProvidersPage = () => <p>STUB</p>
