/** Empty databases for gateways under test, on one PostgreSQL for each process. It stops with the process. */
import { SQL } from 'bun'
import { PostgresServer } from './postgres-server.ts'

let starting: Promise<PostgresServer> | undefined

/** A test run may share one server: `TOLLGATE_TEST_DATABASE_URL` names it. */
const GIVEN = process.env['TOLLGATE_TEST_DATABASE_URL']

/** Makes an empty database and returns its URL. */
export async function freshDatabase(): Promise<string> {
  const admin = new URL(GIVEN ?? (await (starting ??= PostgresServer.create())).url())
  const name = `gateway_${crypto.randomUUID().replaceAll('-', '')}`
  const sql = new SQL(admin.href, { max: 1 })
  try {
    await sql.unsafe(`CREATE DATABASE ${name}`).simple()
  } finally {
    await sql.close()
  }
  admin.pathname = `/${name}`
  return admin.href
}
