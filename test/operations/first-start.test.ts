/** Several instances start at once on a new database. One makes what the first start makes, and all serve. */
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { chat, freshFolder, INSTANCE_ENV, startGateway } from '../support/gateway.ts'
import { freshDatabase } from '../support/postgres.ts'

const INSTANCES = 3
const yaml = `
accounts: { acme: { opening_balance: 7 } }
`

test('instances that start at once make one first account, one key and each declared account once', async () => {
  const url = await freshDatabase()
  const env = { ...INSTANCE_ENV, TOLLGATE_DATABASE_URL: url }
  const starts = Array.from({ length: INSTANCES }, () => startGateway({ folder: freshFolder(), yaml, env }))
  const gateways = await Promise.all(starts)
  for (const gateway of gateways) {
    const [first] = gateways
    const answer = await chat({ baseUrl: gateway.baseUrl, key: (first ?? gateway).key }, { model: 'sandbox-mini' })
    expect(answer.status).toBe(200)
  }
  const sql = new SQL(url, { max: 1 })
  const accounts = await sql`SELECT name, posted::text AS posted FROM account WHERE name = 'acme'`
  const cards = await sql`SELECT count(*)::int AS count FROM price_card WHERE subject = 'model' GROUP BY subject_id`
  const keys = await sql`SELECT count(*)::int AS count FROM api_key WHERE name = 'first key'`
  await sql.close()
  expect([...accounts]).toEqual([{ name: 'acme', posted: '7000000000' }])
  expect([...new Set(cards.map(({ count }: { count: number }) => count))]).toEqual([1])
  expect([...keys]).toEqual([{ count: 1 }])
  for (const gateway of gateways) await gateway.close()
}, 60_000)
