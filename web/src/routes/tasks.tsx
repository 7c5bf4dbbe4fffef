export const TasksPage = () => <p>STUB</p>
