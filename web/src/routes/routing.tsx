export const RoutingPage = () => <p>STUB</p>
