export const OperatorSettingsPage = () => <p>STUB</p>
