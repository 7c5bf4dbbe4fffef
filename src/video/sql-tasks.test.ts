import { makePostgresDatabase, onPostgres, type SharedDatabase } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { statement } from '../store/statement.ts'
import { mustWrite } from '../store/store.ts'
import { openSqlTasks } from './sql-tasks.ts'
import { describeTasksContract, describeTasksOfInstances, type TasksOfInstances } from './tasks-contract.ts'

describeTasksContract(
  'SQLite',
  onSqlite((store) => openSqlTasks(store)),
)

let instances = 0
describeTasksContract(
  'PostgreSQL',
  onPostgres((store) => openSqlTasks(store, `run_${instances++}`)),
)

const register = statement('INSERT INTO instance (id) VALUES (?)')
const declareDead = statement("UPDATE instance SET state = 'dead' WHERE id = ?")

describeTasksOfInstances('PostgreSQL', async () => instancesOn(await makePostgresDatabase()))
describeTasksOfInstances('PostgreSQL with nested loops', async () => {
  const database = await makePostgresDatabase()
  await database.nestLoops()
  return instancesOn(database)
})

async function instancesOn(database: SharedDatabase): Promise<TasksOfInstances> {
  const store = await database.open()
  const open: { close(): Promise<void> }[] = [store]
  return {
    async instance(id) {
      const own = await database.open()
      open.push(own)
      await mustWrite(own, [{ run: register, bind: [id], changes: 1 }])
      return {
        port: openSqlTasks(own, id),
        addAccount: () => Promise.resolve(),
        write: (steps) => own.write(steps),
        reopen: () => Promise.resolve(openSqlTasks(own, id)),
        close: () => own.close(),
      }
    },
    end: (id) => mustWrite(store, [{ run: declareDead, bind: [id], changes: 1 }]),
    async close() {
      for (const each of open) await each.close()
      await database.remove()
    },
  }
}
