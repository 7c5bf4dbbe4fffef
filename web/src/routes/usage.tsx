export const UsagePage = () => <p>STUB</p>
