export const SettingsPage = () => <p>STUB</p>
