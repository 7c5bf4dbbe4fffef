/** Tollgate with several processes on one port and a PostgreSQL of its own, whose CPU is not counted. */
import { SQL } from 'bun'
import { PostgresServer } from '../../test/support/postgres-server.ts'
import type { Contender } from '../contender.ts'
import { operate, ROOT, tollgate } from './tollgate.ts'

const SECRETS = { TOLLGATE_KEY_PEPPER: '5a'.repeat(32), TOLLGATE_MASTER_KEY: 'c3'.repeat(32) }

export function workers(count: number, bunArgs: readonly string[]): Contender {
  const gateway = tollgate({ name: `workers-${count}`, root: ROOT, bunArgs })
  let server: PostgresServer | undefined
  return {
    ...gateway,
    // Each whole reply waits for a commit.
    effort: 0.1,
    async install() {
      server = await PostgresServer.create(['fsync=on', 'full_page_writes=on'])
    },
    env: (field) => ({
      ...gateway.env?.(field),
      ...SECRETS,
      TOLLGATE_DATABASE_URL: server?.url() ?? '',
      TOLLGATE_WORKERS: String(count),
    }),
    async inspect(field, requests) {
      const { clean, findings } = await operate(field, 'ledger.verify', {})
      const sql = new SQL(server?.url() ?? '', { max: 1, bigint: true })
      const rows: { state: string; count: bigint }[] = await sql`SELECT state, count(*) FROM hold GROUP BY state`
      await sql.close()
      const holds = rows.map(({ state, count: found }) => `${found} ${state}`).join(', ')
      return [
        ...(clean === true ? [] : [`the ledger does not verify: ${JSON.stringify(findings).slice(0, 1_000)}`]),
        ...(holds === `${requests} settled` ? [] : [`the books hold ${holds} instead of ${requests} settled`]),
      ]
    },
  }
}
