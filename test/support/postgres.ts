/**
 * Databases for tests, on one PostgreSQL: the one that `TOLLGATE_TEST_DATABASE_URL` names, or one that this process
 * starts and that stops with it. Without PostgreSQL the test fails, and the error says what to install.
 */
import { SQL } from 'bun'
import { migratePostgres } from '../../src/store/postgres/migrate.ts'
import { PostgresServer } from './postgres-server.ts'

export type TestDatabase = {
  readonly url: string
  /** Deletes the database. Connections that are left are cut. */
  close(): Promise<void>
}

const GIVEN = process.env['TOLLGATE_TEST_DATABASE_URL']
/** A database with the schema. A copy of it takes a third of the time of the migrations. */
const TEMPLATE = 'test_template'

let starting: Promise<string> | undefined
let template: Promise<void> | undefined

const serverUrl = (): Promise<string> =>
  (starting ??= GIVEN === undefined ? PostgresServer.create().then((server) => server.url()) : Promise.resolve(GIVEN))

/** Makes a database: empty, or with the schema and no rows. */
export async function openTestPostgres(content: 'nothing' | 'schema' = 'nothing'): Promise<TestDatabase> {
  if (content === 'schema') await (template ??= makeTemplate())
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`
  await administer(`CREATE DATABASE ${name}${content === 'schema' ? ` TEMPLATE ${TEMPLATE}` : ''}`)
  return { url: await urlOf(name), close: () => administer(`DROP DATABASE ${name} WITH (FORCE)`) }
}

/** Makes an empty database and returns its URL. It is left to the end of the server. */
export const freshDatabase = async (): Promise<string> => (await openTestPostgres()).url

/** Files of one run that share a server make the template once. */
async function makeTemplate(): Promise<void> {
  const sql = new SQL(await serverUrl(), { max: 1 })
  try {
    await sql`SELECT pg_advisory_lock(1)`
    const known = await sql`SELECT 1 FROM pg_database WHERE datname = ${TEMPLATE} AND datistemplate`
    if (known.length > 0) return
    await sql.unsafe(`DROP DATABASE IF EXISTS ${TEMPLATE}`).simple()
    await sql.unsafe(`CREATE DATABASE ${TEMPLATE}`).simple()
    const own = new SQL(await urlOf(TEMPLATE), { max: 1 })
    await migratePostgres(own)
    await own.close()
    await sql.unsafe(`ALTER DATABASE ${TEMPLATE} IS_TEMPLATE true`).simple()
  } finally {
    await sql.close()
  }
}

async function urlOf(name: string): Promise<string> {
  const url = new URL(await serverUrl())
  url.pathname = `/${name}`
  return url.href
}

async function administer(command: string): Promise<void> {
  const sql = new SQL(await serverUrl(), { max: 1 })
  try {
    await sql.unsafe(command).simple()
  } finally {
    await sql.close()
  }
}
