/**
 * Plays every known failure of vendors to a real gateway with two offers. It checks the client's answer, the record,
 * and whether the first offer rests afterwards.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { UpstreamFailureKind } from '../../src/domain/failure.ts'
import { seenFailures, type SeenFailure } from '../../src/vendors/failure-meaning.ts'
import { chat, INSTANCES, startGateway, type TestGateway } from '../support/gateway.ts'

/** What follows from a meaning. */
type Consequence = {
  /** Whether the second offer answers. */
  readonly next: boolean
  /** Whether the first offer is left alone by the request that follows. */
  readonly rests: boolean
  /** Without another offer: the status of the client, and how often the offer was asked. */
  readonly alone: readonly [status: number, attempts: number]
}

const operators: Consequence = { next: true, rests: true, alone: [503, 1] }
const requests: Consequence = { next: false, rests: false, alone: [400, 1] }
const consequences: Partial<Record<UpstreamFailureKind, Consequence>> = {
  funds: operators,
  auth: operators,
  model_gone: operators,
  // Without a Retry-After nobody knows how long.
  rate: { next: true, rests: true, alone: [503, 1] },
  overload: { next: true, rests: false, alone: [503, 2] },
  server: { next: true, rests: false, alone: [502, 2] },
  timeout: { next: true, rests: false, alone: [504, 2] },
  context_length: { next: true, rests: false, alone: [400, 1] },
  policy: requests,
  bad_request: requests,
}

const presets: Readonly<Record<string, string>> = {
  chat: 'custom',
  messages: 'anthropic',
  gemini: 'gemini',
  converse: 'bedrock-converse',
}
const dialectOf = ({ dialect = 'chat' }: SeenFailure): string => dialect
const rows = seenFailures.map((row, i) => ({ row, name: `row-${i}` }))
/** What decides is in the body: then it does as the first event of a stream that began with 200, too. */
const told = rows.filter(({ row }) => (row.code ?? row.words) !== undefined && dialectOf(row) === 'chat')

/** What is judged by its words alone, and would rest an offer. */
const rested = told.filter(({ row }) => row.code === undefined && row.means === 'funds' && row.status === 400)

/** More than are tried of those that fail. */
const smalls = told.filter(({ row }) => row.means === 'context_length').slice(0, 5)

let vendor: Bun.Server<unknown>
let gateway: TestGateway
const asked = new Map<string, number>()

const GOOD = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'from the second' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const GOOD_CHUNK = {
  ...GOOD,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content: 'from the second' }, finish_reason: 'stop' }],
}
const sse = (...events: unknown[]): Response =>
  new Response(
    [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
    {
      headers: { 'content-type': 'text/event-stream' },
    },
  )

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text()
      const name = /(?:alone-|stream-|doubt-)?row-\d+|good/.exec(body + new URL(request.url).pathname)?.[0] ?? ''
      asked.set(name, (asked.get(name) ?? 0) + 1)
      const found = rows.find(
        (one) => name.endsWith(one.name) && name.replace(/^(alone|stream|doubt)-/, '') === one.name,
      )
      const isStreamed = body.includes('"stream":true')
      if (!found) return isStreamed ? sse(GOOD_CHUNK) : Response.json(GOOD)
      const { status, body: said } = found.row
      if (name.startsWith('stream-')) return sse(said)
      return typeof said === 'string'
        ? new Response(said, { status, headers: { 'content-type': 'text/html' } })
        : Response.json(said, { status })
    },
  })
  const offer = (row: SeenFailure, model: string): string => `{ provider: ${dialectOf(row)}, model: ${model} }`
  const second = '{ provider: chat, model: good, priority: 1 }'
  const model = (id: string, ...offers: string[]): string =>
    `  ${id}: { price: { input: 1, output: 2 }, offers: [${offers.join(', ')}] }`
  const base = `http://127.0.0.1:${vendor.port}`
  gateway = await startGateway({
    yaml: `
sandbox: false
providers:
${Object.entries(presets)
  .map(([id, preset]) => `  ${id}: { preset: ${preset}, base_url: '${base}/v1', allow_private: true, key: k }`)
  .join('\n')}
models:
${rows.map(({ row, name }) => model(name, offer(row, name), second)).join('\n')}
${rows.map(({ row, name }) => model(`alone-${name}`, offer(row, `alone-${name}`))).join('\n')}
${rested.map(({ row, name }) => model(`doubt-${name}`, offer(row, `doubt-${name}`), second)).join('\n')}
${model('smalls', ...smalls.map(({ row, name }) => offer(row, name)), second)}
${model('choices', '{ provider: messages, model: good }', second)}
${told.map(({ row, name }) => model(`stream-${name}`, offer(row, `stream-${name}`), second)).join('\n')}
`,
    env: { TOLLGATE_ATTEMPTS_MAX: '3' },
  })
}, 60_000)
afterAll(async () => {
  await gateway.close()
  await vendor.stop(true)
}, 30_000)

type StoredRecord = { readonly attempts: string; readonly charged: string }

/** The results of a request's attempts. */
async function resultsOf(response: Response): Promise<string[]> {
  const request = response.headers.get('x-request-id') ?? ''
  const { attempts } = await gateway.operate<StoredRecord>('request.show', { request })
  return (JSON.parse(attempts) as { result: string }[]).map(({ result }) => result)
}

const saidBy = ({ body }: SeenFailure): string => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return /"(?:message|error|status_msg)":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text
}

describe('with a second offer', () => {
  test.each(rows)('$row.vendor $row.status, meaning $row.means ($name)', async ({ row, name }) => {
    const { next, rests } = consequences[row.means] ?? requests
    // Each instance makes its own experience.
    for (let instance = 1; instance <= INSTANCES; instance++) {
      const response = await chat(gateway, { model: name, max_tokens: 5 })
      const text = await response.text()
      if (next) {
        expect([response.status, text]).toEqual([200, expect.stringContaining('from the second')])
        expect(await resultsOf(response)).toEqual([row.means, 'ok'])
      } else {
        expect([response.status, (JSON.parse(text) as { error: object }).error]).toEqual([400, expect.anything()])
        expect(await resultsOf(response)).toEqual([row.means])
      }
      expect(asked.get(name)).toBe(instance)
    }
    await (await chat(gateway, { model: name, max_tokens: 5 })).text()
    expect(asked.get(name)).toBe(rests ? INSTANCES : INSTANCES + 1)
  })

  test.each(told)(
    'the same as the first event of a stream: $row.vendor, meaning $row.means ($name)',
    async ({ row, name }) => {
      const { next } = consequences[row.means] ?? requests
      const response = await chat(gateway, { model: `stream-${name}`, stream: true, max_tokens: 5 })
      const text = await response.text()
      if (next) expect([response.status, text]).toEqual([200, expect.stringContaining('from the second')])
      else expect(response.status).toBe(400)
      expect(await resultsOf(response)).toEqual(next ? [row.means, 'ok'] : [row.means])
    },
  )
})

describe('without another offer', () => {
  test.each(rows)('$row.vendor $row.status, meaning $row.means ($name)', async ({ row, name }) => {
    const { alone } = consequences[row.means] ?? requests
    const [status, attempts] = alone
    const response = await chat(gateway, { model: `alone-${name}`, max_tokens: 5 })
    const text = await response.text()
    const isTooLarge = row.means === 'context_length' && row.status === 413
    expect([response.status, text]).toEqual([isTooLarge ? 413 : status, expect.any(String)])
    expect(asked.get(`alone-${name}`)).toBe(attempts)
    expect(await resultsOf(response)).toEqual(Array.from({ length: attempts }, () => row.means))
    const { error } = JSON.parse(text) as { error: { message: string; code: string } }
    if (status !== 400) expect(error.message).not.toContain(saidBy(row).slice(0, 30))
    if (row.means === 'context_length')
      expect(error.code).toBe(isTooLarge ? 'request_too_large' : 'context_length_exceeded')
    // Only the operator can mend it.
    if (consequences[row.means] === operators) {
      expect(response.headers.get('x-should-retry')).toBe('false')
      expect(error.message).toContain('the operator has the details')
    }
  })
})

describe('what is in the request as well', () => {
  test.each(rested)('rests no offer for everybody: $row.vendor ($name)', async ({ row, name }) => {
    const model = `doubt-${name}`
    const ask = (content: string): Promise<Response> =>
      chat(gateway, { model, max_tokens: 5, messages: [{ role: 'user', content }] })
    for (let i = 1; i <= 2 * INSTANCES; i++) {
      const response = await ask(`What does "${saidBy(row)}" mean?`)
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('from the second')])
      expect(asked.get(model)).toBe(i)
    }
    for (let i = 1; i <= INSTANCES; i++) {
      await (await ask('hi')).text()
      expect(asked.get(model)).toBe(2 * INSTANCES + i)
    }
    await (await ask('hi')).text()
    expect(asked.get(model)).toBe(3 * INSTANCES)
  })
})

test('a request that cannot be said in the dialect of the first offer goes to the second', async () => {
  const response = await chat(gateway, { model: 'choices', n: 2, max_tokens: 5 })
  expect(response.status).toBe(200)
  expect(await resultsOf(response)).toEqual(['bad_request', 'ok'])
})

test('however many offers are too small, the one that is not is reached', async () => {
  const response = await chat(gateway, { model: 'smalls', max_tokens: 5 })
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('from the second')])
  expect(await resultsOf(response)).toEqual([...smalls.map(() => 'context_length'), 'ok'])
})
