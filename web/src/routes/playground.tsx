export const PlaygroundPage = () => <p>STUB</p>
