/** Checks the money: the usage that a client got, times the price, equals the record and the change of the balance. */
import { expect } from 'bun:test'
import type { TestGateway } from '../support/gateway.ts'
import type { Usage } from './protocol.ts'

/** Crooked on purpose: one token costs a fraction of a nano-USD more than a whole number of them. */
export const PRICE = '{ input: 0.0375, output: 0.3333333, reasoning: 0.7 }'
const inputNano = 37_500_000n
const outputNano = 333_333_300n
const reasoningNano = 700_000_000n
const MILLION = 1_000_000n

/** What a usage costs in nano-USD, worked out without the gateway's own code. */
export function costOf({ prompt_tokens, completion_tokens, completion_tokens_details: details }: Usage): bigint {
  const reasoning = details?.reasoning_tokens ?? 0
  const text = BigInt(completion_tokens - reasoning) * outputNano + BigInt(reasoning) * reasoningNano
  const total = BigInt(prompt_tokens) * inputNano + text
  return total / MILLION + (total % MILLION === 0n ? 0n : 1n)
}

export type StoredRequest = Readonly<
  Record<'id' | 'outcome' | 'charged' | 'held' | 'status' | 'usage_source' | 'error_code' | 'attempts', string> &
    Record<'input_fresh' | 'input_image' | 'output_text' | 'output_reasoning', string>
>

/** An account of its own with a key, so that what it lost is what this one test cost. */
export type Member = { readonly account: string; readonly key: string; readonly openingNano: bigint }

/** A call that was answered: its usage, and its id where the client showed one. */
export type Bought = { readonly usage: Usage; readonly requestId: string | null; readonly source?: 'estimated' }

export type Till = {
  readonly join: (options?: { balance?: string; models?: readonly string[] }) => Promise<Member>
  /** All requests of an account, oldest first, once there are this many and none is under way. */
  readonly recordsOf: (member: Member, count: number) => Promise<readonly StoredRequest[]>
  /** The account paid for exactly these calls, each by its usage, and for nothing else. */
  readonly expectPaid: (member: Member, bought: readonly Bought[]) => Promise<void>
  /** The balance went down by exactly what the records say. */
  readonly expectBalance: (member: Member, records: readonly StoredRequest[]) => Promise<void>
}

type Balance = Readonly<Record<'posted_nano_usd' | 'held_nano_usd', string>>

let serial = 0

export function openTill(gateway: () => TestGateway): Till {
  const till: Till = {
    async join({ balance = '1', models } = {}) {
      const name = `member-${serial++}`
      const limits = models && { models }
      const opening = balance === '0' ? undefined : { balance }
      const { id: account } = await gateway().operate<{ id: string }>('account.create', { name, ...opening, ...limits })
      const { secret: key } = await gateway().operate<{ secret: string }>('key.create', { account, name: 'k' })
      const { posted_nano_usd: posted } = await gateway().operate<Balance>('account.show', { account })
      return { account, key, openingNano: BigInt(posted) }
    },
    async recordsOf({ account }, count) {
      for (let tries = 0; tries < 250; tries++) {
        const records = await gateway().operate<StoredRequest[]>('request.list', { account, limit: 100 })
        const { held_nano_usd: held } = await gateway().operate<Balance>('account.show', { account })
        if (records.length >= count && held === '0') {
          expect(records).toHaveLength(count)
          return records.toReversed()
        }
        await Bun.sleep(20)
      }
      throw new Error(`no ${count} records:\n${gateway().output().slice(-2_000)}`)
    },
    async expectPaid(member, bought) {
      const records = await till.recordsOf(member, bought.length)
      for (const [i, { usage, requestId, source = 'reported' }] of bought.entries()) {
        const request = requestId ?? records[i]?.id
        const record = await gateway().operate<StoredRequest>('request.show', { account: member.account, request })
        expect(record).toMatchObject({ outcome: 'completed', usage_source: source, error_code: null })
        expect(`${request}: ${record.charged}`).toBe(`${request}: ${costOf(usage)}`)
        expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
        expect(Number(record.input_fresh) + Number(record.input_image)).toBe(usage.prompt_tokens)
        expect(Number(record.output_text) + Number(record.output_reasoning)).toBe(usage.completion_tokens)
      }
      await till.expectBalance(member, records)
    },
    async expectBalance({ account, openingNano }, records) {
      const charged = records.reduce((sum, record) => sum + BigInt(record.charged), 0n)
      const { posted_nano_usd: posted } = await gateway().operate<Balance>('account.show', { account })
      expect(BigInt(posted)).toBe(openingNano - charged)
    },
  }
  return till
}

/** The price of what a record says was consumed, for calls whose client saw no usage. */
export function costOfRecord(record: StoredRequest): bigint {
  const { input_fresh: fresh, input_image: images, output_text: said, output_reasoning: thought } = record
  const [text, reasoning] = [Number(said), Number(thought)]
  // Images cost what words do.
  const prompt = Number(fresh) + Number(images)
  const completion = text + reasoning
  return costOf({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    completion_tokens_details: { reasoning_tokens: reasoning },
  })
}
