/**
 * Keys that are revoked during traffic. After the acknowledgement no request is admitted with the key, and its streams
 * end within a second. Requests admitted before are charged once.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { chatText } from '../load/malformed/case.ts'
import { countOf, reportFigure } from '../support/soaks.ts'
import { WireClient } from '../support/wire-client.ts'

const COUNT = countOf('revocations')
const CLIENTS = 6
const STREAM_ENDS_MS = 1_000
/** Keys of one account are as many as it may have. */
const KEYS_PER_ACCOUNT = 100

let gateway: TestGateway
let port: number

beforeAll(async () => {
  gateway = await startGateway({
    env: { TOLLGATE_LOG: 'warn' },
    yaml: `
models:
  slow: { price: { input: 1, output: 2 }, offers: [{ provider: sandbox, model: 'sandbox-chat!pace=20' }] }
`,
  })
  port = Number(new URL(gateway.baseUrl).port)
}, 30_000)
afterAll(() => gateway.close(), 60_000)

type Key = { readonly id: string; readonly secret: string }

const ask = (secret: string): string =>
  chatText(secret, '{"model":"sandbox-chat","max_tokens":2,"messages":[{"role":"user","content":"go"}]}')
const stream = (secret: string): string =>
  chatText(secret, '{"model":"slow","stream":true,"messages":[{"role":"user","content":"write 2000 tokens"}]}')

type SeenRequest = { served: number; refused: number; admitted: number; slowestMs: number }

/** Six clients that ask without a pause, one that reads a stream, and a key that goes at a moment of chance. */
async function round(account: string, seen: SeenRequest): Promise<void> {
  const key = await gateway.operate<Key>('key.create', { account, name: 'k' })
  const clients = await Promise.all(Array.from({ length: CLIENTS + 1 }, () => WireClient.open(port)))
  const listener = clients.pop() as WireClient
  let revokedMs = Number.POSITIVE_INFINITY
  const heard = listener.ask(stream(key.secret)).then(() => performance.now())
  const asking = clients.map(async (client) => {
    for (;;) {
      const askedMs = performance.now()
      const answer = await client.ask(ask(key.secret))
      if (answer?.status === 200) {
        seen.served++
        if (askedMs > revokedMs) seen.admitted++
      } else {
        // One that was under way when its key went is told the same.
        expect([answer?.status, answer?.body]).toEqual([401, expect.stringContaining('invalid_api_key')])
        seen.refused++
        if (askedMs > revokedMs) return
      }
    }
  })
  await Bun.sleep(20 + Math.random() * 40)
  await gateway.operate('key.revoke', { key: key.id })
  revokedMs = performance.now()
  await Promise.all(asking)
  seen.slowestMs = Math.max(seen.slowestMs, (await heard) - revokedMs)
  for (const client of [...clients, listener]) client.close()
}

test(
  `${COUNT} keys: none lets anybody in after it was revoked`,
  async () => {
    const seen: SeenRequest = { served: 0, refused: 0, admitted: 0, slowestMs: 0 }
    let account = ''
    for (let i = 0; i < COUNT; i++) {
      if (i % KEYS_PER_ACCOUNT === 0) {
        const made = await gateway.operate<{ id: string }>('account.create', { name: `revoking-${i}`, balance: '50' })
        account = made.id
      }
      await round(account, seen)
    }
    expect(seen.admitted).toBe(0)
    expect(seen.refused).toBeGreaterThanOrEqual(COUNT * CLIENTS)
    expect(seen.slowestMs).toBeLessThan(STREAM_ENDS_MS)
    reportFigure(
      `${COUNT} keys, ${seen.served} calls served, ${seen.refused} refused, none let in after its key was revoked; ` +
        `streams ended after ${seen.slowestMs.toFixed(0)} ms at most`,
    )
  },
  COUNT * 2_000 + 60_000,
)
