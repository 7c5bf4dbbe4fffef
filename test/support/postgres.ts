/** Fresh databases for tests, on one PostgreSQL for each test file. It stops after the last test of the file. */
import { SQL } from 'bun'
import { afterAll } from 'bun:test'
import { PostgresServer } from './postgres-server.ts'

export type TestDatabase = {
  readonly url: string
  /** Deletes the database. Connections that are left are cut. */
  close(): Promise<void>
}

let starting: Promise<PostgresServer> | undefined
let count = 0

afterAll(async () => {
  await (await starting)?.close()
})

/** Makes an empty database. Without PostgreSQL the test fails, and the error says what to install. */
export async function openTestPostgres(): Promise<TestDatabase> {
  const server = await (starting ??= PostgresServer.create())
  const name = `test_${count++}`
  await administer(server, `CREATE DATABASE ${name}`)
  return {
    url: server.url(name),
    close: () => administer(server, `DROP DATABASE ${name} WITH (FORCE)`),
  }
}

async function administer(server: PostgresServer, command: string): Promise<void> {
  const sql = new SQL(server.url(), { max: 1 })
  try {
    await sql.unsafe(command).simple()
  } finally {
    await sql.close()
  }
}
