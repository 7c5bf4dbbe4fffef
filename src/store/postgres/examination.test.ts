import { SQL } from 'bun'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PostgresServer } from '../../../test/support/postgres-server.ts'
import { examineDatabase, type DatabaseFinding } from './examination.ts'

describe('the examination of a database', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.create(['fsync=on', 'full_page_writes=on'])
  })
  afterAll(() => server.close())

  const named = async (url = server.url()): Promise<Readonly<Record<string, DatabaseFinding>>> =>
    Object.fromEntries((await examineDatabase(url)).map((one) => [one.name, one]))
  const administer = async (command: string): Promise<void> => {
    const sql = new SQL(server.url(), { max: 1 })
    await sql.unsafe(command).simple()
    await sql.close()
  }

  test('finds nothing but the missing standby on a server as it is made', async () => {
    const findings = await examineDatabase(server.url())
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([
      { name: 'standby', state: 'warn', detail: 'none is synchronous (standbys: none): a failover can lose charges' },
    ])
    expect(findings.find(({ name }) => name === 'postgresql')?.detail).toMatch(/^1[4-9]/)
  })

  test('names settings under which a crash loses charges', async () => {
    await administer("ALTER SYSTEM SET synchronous_commit = 'off'; ")
    await administer('SELECT pg_reload_conf()')
    await Bun.sleep(200)
    expect(await named()).toMatchObject({
      durability: { state: 'fail', detail: expect.stringContaining('synchronous_commit off') },
    })
    await administer('ALTER SYSTEM RESET synchronous_commit')
    await administer('SELECT pg_reload_conf()')
    await Bun.sleep(200)
    expect(await named()).toMatchObject({ durability: { state: 'ok' } })
  })

  test('names a timeout of the role and another encoding', async () => {
    await administer("ALTER ROLE postgres SET statement_timeout = '30s'")
    expect(await named()).toMatchObject({
      'statement timeout': { state: 'warn', detail: expect.stringContaining('30s') },
    })
    await administer('ALTER ROLE postgres RESET statement_timeout')
    await administer("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C' LOCALE_PROVIDER libc")
    expect(await named(server.url('latin'))).toMatchObject({ postgresql: { state: 'fail' } })
  })

  test('rejects where no server answers', async () => {
    const asked = examineDatabase('postgres://nobody@127.0.0.1:1/none')
    expect(await asked.catch((error: Error) => error.message)).toContain('connect')
  })
})
