import { expect, test } from 'bun:test'
import { makePostgresDatabase, onPostgres, type SharedDatabase } from '../store/postgres-contract.ts'
import { onSqlite } from '../store/sqlite-contract.ts'
import { statement } from '../store/statement.ts'
import { mustWrite, type Store } from '../store/store.ts'
import { openSqlTasks } from './sql-tasks.ts'
import { describeTasksContract, describeTasksOfInstances, type TasksOfInstances } from './tasks-contract.ts'
import type { Tasks } from './tasks.ts'

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

const insertMany = statement(`INSERT INTO video_task
    (id, account_id, key_id, request_id, model, wish, terms, held, created_at, deadline_at, owner, stage)
  SELECT ?1 || n, 'a', 'k', 'req_' || ?1 || n, 'm', '{}', '{}', 1, 1, 1, ?2, 'submitting' FROM generate_series(1, 48) AS n`)

test('of three instances that take over at the same moment, each task has one', async () => {
  const database = await makePostgresDatabase()
  const stores = [await database.open(), await database.open(), await database.open()]
  const [store] = stores as [Store]
  const takers: Tasks[] = []
  for (const [i, own] of stores.entries()) {
    await mustWrite(own, [{ run: register, bind: [`taker_${i}`], changes: 1 }])
    takers.push(openSqlTasks(own, `taker_${i}`))
  }
  for (let round = 0; round < 10; round++) {
    const dead = `dead_${round}`
    await mustWrite(store, [{ run: register, bind: [dead], changes: 1 }])
    await mustWrite(store, [{ run: insertMany, bind: [`${round}_`, dead] }])
    await mustWrite(store, [{ run: declareDead, bind: [dead], changes: 1 }])
    const taken: string[] = []
    const takeAll = async (port: Tasks): Promise<void> => {
      for (let tries = 0; tries < 4; tries++) taken.push(...(await port.takeOver()).map(({ task }) => task.id))
    }
    await Promise.all(takers.map(takeAll))
    expect(new Set(taken).size).toBe(48)
    expect(taken).toHaveLength(48)
  }
  for (const own of stores) await own.close()
  await database.remove()
})
