/** A client of `/v1/responses` without an SDK. */
import { expect } from 'bun:test'
import type { TestGateway } from './gateway.ts'
import { expectStream, responseSchema, type ShownResponse } from './response-events.ts'

const price = '{ input: 1, output: 2 }'
/** The models of these tests, and what their vendor does wrong. */
export const yamlOf = (baseUrl: string): string => `
sandbox: false
providers:
  vendor: { base_url: '${baseUrl}', allow_private: true }
models:
  plain: { price: ${price}, offers: [{ provider: vendor, model: sandbox-chat }] }
  blind: { price: ${price}, pictures: false, offers: [{ provider: vendor, model: sandbox-chat }] }
  slow: { price: ${price}, offers: [{ provider: vendor, model: 'sandbox-chat!pace=20' }] }
  late: { price: ${price}, offers: [{ provider: vendor, model: 'sandbox-chat!delayMs=400' }] }
  stuck: { price: ${price}, offers: [{ provider: vendor, model: 'sandbox-chat!delayMs=30000' }] }
  failing: { price: ${price}, offers: [{ provider: vendor, model: 'sandbox-chat!status=501' }] }
  'late-failing': { price: ${price}, offers: [{ provider: vendor, model: 'sandbox-chat!delayMs=400,status=500' }] }
  cut: { price: ${price}, offers: [{ provider: vendor, model: 'sandbox-chat!cutAfterBytes=4000,pace=2' }] }
  'no-usage': { price: ${price}, offers: [{ provider: vendor, model: 'sandbox-chat!noUsage' }] }
`

type Row = Readonly<
  Record<'id' | 'outcome' | 'charged' | 'held' | 'endpoint' | 'usage_source' | 'stream' | 'attempts', string>
>
export type Who = { readonly key: string; readonly baseUrl: string }
export type Member = Who & { readonly account: string; records(count: number): Promise<Row[]> }
let serial = 0

/** Opens an account of its own, with a key. */
export async function joined(at: Pick<TestGateway, 'operate' | 'baseUrl'>, limits: object = {}): Promise<Member> {
  const name = `speaker-${serial++}`
  const { id } = await at.operate<{ id: string }>('account.create', { name, balance: '10', ...limits })
  const { secret: key } = await at.operate<{ secret: string }>('key.create', { account: name, name: 'k' })
  return {
    account: id,
    key,
    baseUrl: at.baseUrl,
    async records(count) {
      for (let tries = 0; tries < 250; tries++) {
        const rows = await at.operate<Row[]>('request.list', { account: name, limit: 100 })
        const { held_nano_usd: held } = await at.operate<{ held_nano_usd: string }>('account.show', { account: name })
        if (rows.length >= count && held === '0') return rows
        await Bun.sleep(20)
      }
      throw new Error(`no ${count} records`)
    },
  }
}

type Init = { method?: string; body?: object; headers?: Record<string, string>; signal?: AbortSignal }

export function send({ key, baseUrl }: Who, path: string, { method = 'GET', body, headers, signal }: Init = {}) {
  return fetch(`${baseUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
}

export const create = (who: Who, body: object, init: Init = {}): Promise<Response> =>
  send(who, '/responses', { method: 'POST', body: { model: 'plain', input: 'hello', ...body }, ...init })

export async function made(who: Who, body: object): Promise<ShownResponse> {
  const answer = await create(who, body)
  const text = await answer.text()
  expect([answer.status, text]).toEqual([200, text])
  return responseSchema.parse(JSON.parse(text))
}

export async function streamed(who: Who, body: object): Promise<ShownResponse> {
  const events = expectStream(await (await create(who, { ...body, stream: true })).text())
  return events.at(-1)?.['response'] as ShownResponse
}

export async function failure(answer: Response): Promise<[number, string, string | null]> {
  const { error } = (await answer.json()) as { error: { code: string; param: string | null } }
  return [answer.status, error.code, error.param]
}

export const textOf = ({ output }: ShownResponse): string =>
  output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => ('text' in part ? part.text : ''))
    .join('')

export async function until(who: Who, id: string, status: string): Promise<ShownResponse> {
  for (let tries = 0; tries < 250; tries++) {
    const shown = responseSchema.parse(await (await send(who, `/responses/${id}`)).json())
    if (shown.status === status) return shown
    expect(shown.status).toBe('in_progress')
    await Bun.sleep(20)
  }
  throw new Error(`${id} did not become ${status}`)
}
