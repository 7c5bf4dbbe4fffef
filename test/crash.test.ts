import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { chat, freshFolder, startGateway, type TestGateway } from './support/gateway.ts'

const CYCLES = Number(process.env['TOLLGATE_CRASH_CYCLES'] ?? 20)
const CLIENTS = 8

/**
 * A client that asks until the server dies. An answer counts as acknowledged when its last byte arrived: the whole
 * body, or the stream's terminator.
 */
async function client(gateway: TestGateway, acknowledged: Set<string>, stream: boolean): Promise<void> {
  for (;;) {
    try {
      const response = await chat(gateway, { model: 'sandbox-mini', stream, max_tokens: 5 })
      const text = await response.text()
      const complete = stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}')
      const id = response.headers.get('x-request-id')
      if (response.status === 200 && complete && id) acknowledged.add(id)
    } catch {
      return // The server is dead, which is the point.
    }
  }
}

type Row = { id: string; state: string; charges: number; outcome: string | null }

test(`after ${CYCLES} kills under load every acknowledged charge is there once and no hold is open`, async () => {
  const folder = freshFolder()
  const acknowledged = new Set<string>()
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const gateway = await startGateway({ folder })
    expect(await gateway.operate('ledger.verify')).toMatchObject({ clean: true, open_holds: 0 })
    const clients = Array.from({ length: CLIENTS }, (_, i) => client(gateway, acknowledged, i % 2 === 0))
    await Bun.sleep(100 + Math.random() * 200)
    await gateway.crash()
    await Promise.all(clients)
  }
  const last = await startGateway({ folder })
  const db = new Database(join(folder, 'tollgate.db'), { readonly: true })
  const rows = db
    .query(
      `SELECT hold.id, hold.state, count(journal.id) AS charges, record.outcome FROM hold
       LEFT JOIN journal ON journal.hold_id = hold.id
       LEFT JOIN request_record AS record ON record.account_id = hold.account_id AND record.id = hold.id GROUP BY hold.id`,
    )
    .all() as Row[]
  db.close()
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const id of acknowledged) {
    expect(byId.get(id)).toEqual({ id, state: 'settled', charges: 1, outcome: 'completed' })
  }
  expect(rows.filter(({ state }) => state === 'open')).toEqual([])
  expect(acknowledged.size).toBeGreaterThan(CYCLES)
  // Some died half way, or the kills came at the wrong moments and proved nothing.
  expect(rows.some(({ state }) => state === 'expired')).toBe(true)
  await last.close()
}, 300_000)
