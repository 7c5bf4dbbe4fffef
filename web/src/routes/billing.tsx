export const BillingPage = () => <p>STUB</p>
