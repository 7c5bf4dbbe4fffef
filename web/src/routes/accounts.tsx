export const AccountsPage = () => <p>STUB</p>
