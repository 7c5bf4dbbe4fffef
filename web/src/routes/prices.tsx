export const PricesPage = () => <p>STUB</p>
