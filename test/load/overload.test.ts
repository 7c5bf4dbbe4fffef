/**
 * Ten times as many clients as the gateway needs for its peak. Throughput does not collapse, memory stays bounded,
 * every answer is whole, and the books are correct. This is the short form. `TOLLGATE_OVERLOAD_SECONDS` sets a run that
 * is long enough to measure rates.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { chatText } from './malformed/case.ts'
import { countOf } from '../support/soaks.ts'
import { WireClient } from '../support/wire-client.ts'

const SECONDS = countOf('overload')
/** A run that is long enough is held to a rate; on a busy machine seconds are not. */
const SECONDS_FOR_RATES = 30
const PEAK_CLIENTS = 32
const FACTOR = 10
const GOODPUT_SHARE_MIN = 0.8
const RSS_MB_MAX = 600

let vendor: Bun.Server<unknown>
let gateway: TestGateway
let port: number

beforeAll(async () => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'a b c d' }, finish_reason: 'stop' }]
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
  const reply = JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage })
  const json = { headers: { 'content-type': 'application/json' } }
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(reply, json),
  })
  gateway = await startGateway({
    balanceUsd: '100000',
    env: { TOLLGATE_LOG: 'warn' },
    yaml: `
sandbox: false
providers: { vendor: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true } }
models: { plain: { price: { input: 1, output: 2 }, offers: [{ provider: vendor, model: m }] } }
`,
  })
  port = Number(new URL(gateway.baseUrl).port)
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await vendor.stop(true)
}, 60_000)

/** 3 tokens in at $1 a million, 4 out at $2. */
const CHARGE_NANO = 11_000n
const REQUEST = (): string =>
  chatText(gateway.key, '{"model":"plain","max_tokens":4,"messages":[{"role":"user","content":"go"}]}')

type Load = { served: number; refused: number; perSecond: number; slowestMs: number }

/** So many clients, each asking again as soon as it has its answer. */
async function load(clientCount: number, seconds: number): Promise<Load> {
  const clients = await Promise.all(Array.from({ length: clientCount }, () => WireClient.open(port)))
  const bytes = REQUEST()
  const startedMs = performance.now()
  const result = { served: 0, refused: 0, slowestMs: 0 }
  const ask = async (client: WireClient): Promise<void> => {
    while (performance.now() - startedMs < seconds * 1_000) {
      const askedMs = performance.now()
      const answer = await client.ask(bytes)
      if (!answer || client.broken) throw new Error('a connection closed without an answer')
      result.slowestMs = Math.max(result.slowestMs, performance.now() - askedMs)
      if (answer.status === 200) {
        expect(answer.body).toContain('"content":"a b c d"')
        result.served++
      } else {
        // To shed load is allowed; to fail is not.
        expect([429, 503]).toContain(answer.status)
        result.refused++
      }
    }
  }
  await Promise.all(clients.map(ask))
  const perSecond = result.served / ((performance.now() - startedMs) / 1_000)
  for (const client of clients) client.close()
  return { ...result, perSecond }
}

const rssMb = (): number =>
  existsSync('/proc/self/statm')
    ? (Number(readFileSync(`/proc/${gateway.pid}/statm`, 'utf8').split(' ')[1]) * 4_096) / 1024 / 1024
    : 0

test(
  `${FACTOR} times the clients of its peak, for ${SECONDS} s: no collapse`,
  async () => {
    const warmUp = await load(PEAK_CLIENTS, 1)
    const peak = await load(PEAK_CLIENTS, Math.max(2, SECONDS / 4))
    const over = await load(PEAK_CLIENTS * FACTOR, SECONDS)
    const share = over.perSecond / peak.perSecond
    console.log(
      `peak ${peak.perSecond.toFixed(0)}/s with ${PEAK_CLIENTS} clients; with ${PEAK_CLIENTS * FACTOR}: ` +
        `${over.perSecond.toFixed(0)}/s (${(share * 100).toFixed(0)} %), ${over.refused} refused, ` +
        `slowest ${over.slowestMs.toFixed(0)} ms, ${rssMb().toFixed(0)} MB`,
    )
    expect(over.served).toBeGreaterThan(0)
    expect(rssMb()).toBeLessThan(RSS_MB_MAX)
    if (SECONDS >= SECONDS_FOR_RATES) expect(share).toBeGreaterThanOrEqual(GOODPUT_SHARE_MIN)
    const shown = await gateway.operate<{ posted_nano_usd: string; held_nano_usd: string }>('account.show', {
      account: gateway.accountId,
    })
    expect(shown.held_nano_usd).toBe('0')
    // Each answer was charged, once.
    const served = warmUp.served + peak.served + over.served
    expect(100_000_000_000_000n - BigInt(shown.posted_nano_usd)).toBe(BigInt(served) * CHARGE_NANO)
    const after = await load(1, 0.2)
    expect(after.served).toBeGreaterThan(0)
  },
  SECONDS * 3_000 + 60_000,
)
