export const YouPage = () => <p>STUB</p>
