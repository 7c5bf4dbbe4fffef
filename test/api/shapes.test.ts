/**
 * Values of the wrong shape at every place of every body, such as objects in place of text, with members like
 * `toString`. Each is answered or refused in the envelope of its dialect. None is an internal error, and a refused one
 * is neither sent nor charged. `TOLLGATE_SHAPES` sets the number.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { bodies, type Surface } from '../load/malformed/bodies.ts'
import { shapesOf, type Json } from '../load/malformed/shapes.ts'
import { startAllVendor, type AllVendor } from '../load/malformed/all-vendor.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'

const COUNT = countOf('malformed-shapes')
const CLIENTS = 16

let vendor: AllVendor
let gateway: TestGateway
let origin: string

beforeAll(async () => {
  vendor = startAllVendor()
  gateway = await startGateway({ yaml: vendor.yaml, env: { TOLLGATE_LOG: 'warn' }, balanceUsd: '1000000' })
  origin = new URL(gateway.baseUrl).origin
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await vendor.stop()
}, 30_000)

const post = (path: string, body: Json, key = gateway.key): Promise<Response> =>
  fetch(origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** An account may have so many requests refused, or counted, in a minute: each of these is used for some of them. */
const KEY_USES = 250
let accounts = 0

async function freshKey(): Promise<string> {
  const account = `shapes-${accounts++}`
  await gateway.operate('account.create', { name: account, balance: '10000' })
  return (await gateway.operate<{ secret: string }>('key.create', { account, name: 'k' })).secret
}

/** What the gateway itself found wrong, each once. */
const errorsIn = (log: string): string[] => [
  ...new Set(
    log
      .split('\n')
      .filter((line) => line.includes('"level":"error"'))
      .map((line) => (JSON.parse(line) as { stack?: string; message?: string }).stack ?? line),
  ),
]

/** Names a fault of an answer. */
async function faultOf(surface: Surface, answer: Response): Promise<string | undefined> {
  const text = await answer.text()
  if (answer.status === 200) return undefined
  if (answer.status < 400 || answer.status > 499) return `status ${answer.status}: ${text.slice(0, 300)}`
  return surface.isEnvelope(JSON.parse(text) as object) ? undefined : `no envelope: ${text.slice(0, 300)}`
}

type TriedBody = { answered: number; refused: number; readonly faults: string[] }

async function tryAll(surface: Surface, path: string, shapes: Iterable<Json>): Promise<TriedBody> {
  const tried: TriedBody = { answered: 0, refused: 0, faults: [] }
  const work = shapes[Symbol.iterator]()
  const client = async (): Promise<void> => {
    let key = await freshKey()
    let uses = 0
    for (let next = work.next(); !next.done; next = work.next()) {
      if (++uses % KEY_USES === 0) key = await freshKey()
      const answer = await post(path, next.value, key)
      const fault = await faultOf(surface, answer)
      if (answer.status === 200) tried.answered++
      else tried.refused++
      if (fault !== undefined) tried.faults.push(`${path} ${fault} for ${JSON.stringify(next.value).slice(0, 3_000)}`)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return tried
}

describe.each(bodies)('$name', (surface) => {
  test.each(surface.models)(
    'as %s, whatever shape its values have',
    async (model) => {
      const seed = seedOfRun()
      const { path, body } = surface.asked(model)
      const sound = await post(path, body)
      expect([sound.status, (await sound.text()).slice(0, 500)]).toEqual([200, expect.any(String)])
      const logged = gateway.output().length
      const before = { asked: vendor.asked, records: await charged() }
      const shapes = fc.sample(shapesOf(body), { seed, numRuns: surface.share(COUNT) })
      const { answered, refused, faults } = await tryAll(surface, path, shapes)
      reportFigure(`${surface.name} as ${model}: ${answered} answered, ${refused} refused; seed ${seed}`)
      expect(errorsIn(gateway.output().slice(logged))).toEqual([])
      expect(faults).toEqual([])
      expect(refused).toBeGreaterThan(0)
      if (surface.isCounted(model)) expect(vendor.asked - before.asked).toBe(answered)
      if (surface.charges !== 'later') {
        expect((await charged()) - before.records).toBe(surface.charges === 'never' ? 0 : answered)
      }
    },
    900_000,
  )
})

const QUERIES = [
  '/v1/responses/resp_x',
  '/v1/responses/resp_x/input_items',
  '/v1/videos',
  '/v1/videos/x',
  '/v1/models/x',
  '/v1beta/models',
]
const NAMES = [
  'limit',
  'after',
  'before',
  'order',
  'include',
  'stream',
  'starting_after',
  'alt',
  'key',
  'pageSize',
  'pageToken',
  '',
]
const WORDS = ['', 'x', '-1', '1e999', '[]', '{}', '%', '%00', '%zz', 'null', '9'.repeat(30), '%ED%A0%80', '__proto__']

test('queries of every route, whatever is in them', async () => {
  const key = await freshKey()
  const headers = { authorization: `Bearer ${key}` }
  for (const path of QUERIES) {
    for (const name of NAMES) {
      const asked = WORDS.map(async (word) => {
        const answer = await fetch(`${origin}${path}?${name}=${word}&${name}[]=${word}`, { headers })
        return [path, name, word, answer.status < 500 || answer.status, (await answer.text()).length > 0]
      })
      for (const one of await Promise.all(asked)) expect(one).toEqual([path, name, one[2] as string, true, true])
    }
  }
}, 60_000)

/** How many calls were charged. */
async function charged(): Promise<number> {
  const isCharged = (line: string): boolean =>
    line.startsWith('tollgate_requests_total{') && !line.includes('outcome="failed"')
  const lines = (await gateway.metrics()).split('\n').filter(isCharged)
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
