import { onSqlite } from '../store/sqlite-contract.ts'
import { openSqliteTasks } from './sqlite-tasks.ts'
import { describeTasksContract } from './tasks-contract.ts'

describeTasksContract('SQLite', onSqlite(openSqliteTasks))
