export const ModelsPage = () => <p>STUB</p>
