export const CodesPage = () => <p>STUB</p>
