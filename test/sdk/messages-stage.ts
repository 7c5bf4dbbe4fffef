/**
 * The gateway with a vendor that speaks Messages and one that speaks chat. Both are the sandbox, with uneven prices.
 */
import { afterAll, beforeAll, expect } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai-6'
import { startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'
import { openTill, type Member, type StoredRequest, type Till } from './till.ts'

/** Dollars per million tokens of each bucket, as they are declared, and in nano-USD. */
const prices = {
  input: '1.0375',
  output: '3.3333333',
  cached_input: '0.1111111',
  cache_write: '1.2977777',
  cache_write_1h: '2.0777777',
  reasoning: '0.7777777',
}
const PRICE = `{ ${Object.entries(prices)
  .map(([name, usd]) => `${name}: ${usd}`)
  .join(', ')} }`

export type Buckets = {
  readonly fresh: number
  readonly cached?: number
  readonly write5m?: number
  readonly write1h?: number
  readonly text: number
  readonly reasoning?: number
}

/** What buckets cost in nano-USD, worked out without the gateway's own code. */
export function costOf({ fresh, cached = 0, write5m = 0, write1h = 0, text, reasoning = 0 }: Buckets): bigint {
  const nano = (usd: string): bigint => BigInt(Math.round(Number(usd) * 1e9))
  const total =
    BigInt(fresh) * nano(prices.input) +
    BigInt(cached) * nano(prices.cached_input) +
    BigInt(write5m) * nano(prices.cache_write) +
    BigInt(write1h) * nano(prices.cache_write_1h) +
    BigInt(text) * nano(prices.output) +
    BigInt(reasoning) * nano(prices.reasoning)
  return total / 1_000_000n + (total % 1_000_000n === 0n ? 0n : 1n)
}

/** The buckets of a usage as the dialect's clients see it. */
export function bucketsOf(usage: Anthropic.Usage): Buckets {
  const reasoning = usage.output_tokens_details?.thinking_tokens ?? 0
  return {
    fresh: usage.input_tokens,
    cached: usage.cache_read_input_tokens ?? 0,
    write5m: usage.cache_creation?.ephemeral_5m_input_tokens ?? 0,
    write1h: usage.cache_creation?.ephemeral_1h_input_tokens ?? 0,
    text: usage.output_tokens - reasoning,
    reasoning,
  }
}

/** Faults of the upstream model behind a public one; each is there once in either dialect. */
const faults = {
  slow: 'pace=20',
  late: 'delayMs=10000',
  'no-usage': 'noUsage',
  'no-end': 'noDone',
  'fails-500': 'status=500',
  'fails-529': 'status=529',
  'fails-401': 'status=401',
  'limits-429': 'status=429,retry-after=7',
  rejects: 'status=400',
  cut: 'cutAfterBytes=4000,pace=2',
  breaks: 'errorEvent=12',
}
export type Fault = keyof typeof faults

/** `native`: the vendor speaks Messages. `chatty`: it speaks chat. */
export type Vendor = 'native' | 'chatty'

export type MessagesStage = Till & {
  readonly gateway: () => TestGateway
  readonly anthropic: (member: Pick<Member, 'key'>, options?: { retriesMax?: number }) => Anthropic
  readonly openai: (member: Pick<Member, 'key'>) => OpenAI
  /** The only record of a member, of an ended request, with every bucket as a number. */
  readonly expectOne: (member: Member, wanted: object) => Promise<StoredRequest>
  readonly expectCost: (member: Member, calls: readonly Buckets[]) => Promise<void>
}

export const modelOf = (vendor: Vendor, fault?: Fault): string => (fault ? `${vendor}-${fault}` : vendor)

export function setMessagesStage(): MessagesStage {
  let sandbox: TestSandbox
  let started: TestGateway | undefined
  beforeAll(async () => {
    sandbox = await startSandboxProcess()
    const place = `base_url: '${sandbox.baseUrl}', allow_private: true`
    const models = (['native', 'chatty'] as const).flatMap((vendor) =>
      Object.entries({ '': '', ...faults }).map(([name, knobs]) => {
        const upstream = knobs === '' ? 'sandbox-chat' : `sandbox-chat!${knobs}`
        const id = name === '' ? vendor : `${vendor}-${name}`
        return `  ${id}: { price: ${PRICE}, offers: [{ provider: ${vendor}, model: '${upstream}' }] }`
      }),
    )
    const fallback = `  falls-back: { price: ${PRICE}, offers: [{ provider: native, model: 'sandbox-chat!status=529', priority: 0 }, { provider: chatty, model: sandbox-chat, priority: 1 }] }`
    const yaml = [
      'sandbox: false',
      'providers:',
      `  native: { preset: anthropic, ${place}, key: vendor-key }`,
      `  chatty: { ${place} }`,
      'models:',
      ...models,
      fallback,
    ]
    started = await startGateway({ yaml: yaml.join('\n') })
  }, 30_000)
  afterAll(async () => {
    await started?.close()
    await sandbox.stop()
  }, 30_000)
  const gateway = (): TestGateway => {
    if (started) return started
    throw new Error('the gateway is not up yet')
  }
  const till = openTill(gateway)
  return {
    gateway,
    ...till,
    anthropic: ({ key }, { retriesMax = 0 } = {}) =>
      new Anthropic({ baseURL: new URL(gateway().baseUrl).origin, apiKey: key, maxRetries: retriesMax }),
    openai: ({ key }) => new OpenAI({ baseURL: gateway().baseUrl, apiKey: key, maxRetries: 0 }),
    async expectOne(member, wanted) {
      const records = await till.recordsOf(member, 1)
      const [record] = records
      expect(record).toMatchObject(wanted)
      await till.expectBalance(member, records)
      return record ?? expect.unreachable()
    },
    async expectCost(member, calls) {
      const records = await till.recordsOf(member, calls.length)
      for (const [i, call] of calls.entries()) {
        const { fresh, cached = 0, write5m = 0, write1h = 0, text, reasoning = 0 } = call
        expect({ ...records[i] }).toMatchObject({
          outcome: 'completed',
          usage_source: 'reported',
          charged: String(costOf(call)),
          input_fresh: String(fresh),
          input_cached: String(cached),
          cache_write_5m: String(write5m),
          cache_write_1h: String(write1h),
          output_text: String(text),
          output_reasoning: String(reasoning),
        })
      }
      await till.expectBalance(member, records)
    },
  }
}

/** What a call throws. The SDKs' promises are lazy: they have to be asked. */
export async function thrown<T extends Error>(call: PromiseLike<unknown>): Promise<T> {
  try {
    await call
  } catch (error) {
    return error as T
  }
  return expect.unreachable()
}
