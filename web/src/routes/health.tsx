export const HealthPage = () => <p>STUB</p>
