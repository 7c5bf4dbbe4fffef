import { onPostgres } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { openSqliteTasks } from './sqlite-tasks.ts'
import { describeTasksContract } from './tasks-contract.ts'

for (const [name, on] of Object.entries({ SQLite: onSqlite, PostgreSQL: onPostgres })) {
  describeTasksContract(name, on(openSqliteTasks))
}
