/** The failures that every official client must report, and their cost. */
import { describe, expect, test } from 'bun:test'
import { ask } from './openai-answers.ts'
import type { SeenError, Usage } from './protocol.ts'
import type { Clerk, Stage } from './stage.ts'
import { costOf, costOfRecord } from './till.ts'

const model = 'org/chat'

/** What clients call the same thing. */
export type Dialect = {
  readonly timeout: 'APIConnectionTimeoutError' | 'APITimeoutError'
  /** What a stream throws when its own client aborts it; null where that is a quiet end. */
  readonly isAbortQuiet: boolean
}

/** The error of a class, with its fields as the gateway sent them, and a request id that the operator can find. */
async function expectError({ gateway }: Stage, seen: SeenError, wanted: Partial<SeenError>): Promise<void> {
  expect(seen).toMatchObject({ isApiError: true, param: null, ...wanted })
  expect(seen.requestId).toMatch(/^req_/)
  const isLogged = (): boolean => gateway().output().includes(`"${seen.requestId}"`)
  for (let tries = 0; tries < 250 && !isLogged(); tries++) await Bun.sleep(20)
  expect(isLogged()).toBeTrue()
}

export function testRefusals(stage: Stage, clerk: Clerk): void {
  const { join, recordsOf, requestsDuring, gateway } = stage
  const body = { model, ...ask('Hi') }

  test('a bad key is an AuthenticationError, once: it is not retried', async () => {
    const bad = { key: `sk-tg-${'A'.repeat(49)}` }
    const wanted = { name: 'AuthenticationError', status: 401, code: 'invalid_api_key', type: 'invalid_request_error' }
    const requests = await requestsDuring(async () => {
      await expectError(stage, await clerk.failing(bad, 'create', { body }), wanted)
      await expectError(stage, await clerk.failing(bad, 'stream', { body }), wanted)
      await expectError(stage, await clerk.failing(bad, 'models'), wanted)
    })
    expect(requests).toBe(3)
  })

  test('an empty balance, or one too small, is an AuthenticationError that says so, once', async () => {
    const wanted = { name: 'AuthenticationError', status: 401, code: 'insufficient_balance', type: 'billing_error' }
    const broke = await join({ balance: '0' })
    const poor = await join({ balance: '0.0001' })
    const requests = await requestsDuring(async () => {
      for (const command of ['create', 'stream'] as const) {
        const error = await clerk.failing(broke, command, { body })
        await expectError(stage, error, wanted)
        expect(error.message).toContain('balance')
      }
      const error = await clerk.failing(poor, 'create', { body: { ...body, max_tokens: 100_000 } })
      await expectError(stage, error, wanted)
      expect(error.message).toMatch(/A max_tokens of \d+ would fit/)
    })
    expect(requests).toBe(3)
    await recordsOf(broke, 0)
    await recordsOf(poor, 0)
  })

  test('a model that is not allowed, and a suspended account, are PermissionDeniedErrors', async () => {
    const me = await join({ models: ['slow'] })
    const wanted = { name: 'PermissionDeniedError', status: 403, type: 'invalid_request_error' }
    const requests = await requestsDuring(async () => {
      const denied = { ...wanted, code: 'model_not_allowed', param: 'model' }
      await expectError(stage, await clerk.failing(me, 'create', { body }), denied)
      await expectError(stage, await clerk.failing(me, 'model', { id: model }), denied)
      await gateway().operate('account.suspend', { account: me.account })
      const suspended = { ...wanted, code: 'account_suspended' }
      await expectError(stage, await clerk.failing(me, 'create', { body: { ...body, model: 'slow' } }), suspended)
      await expectError(stage, await clerk.failing(me, 'models'), suspended)
    })
    expect(requests).toBe(4)
    await recordsOf(me, 0)
  })

  test('a model that does not exist is a NotFoundError', async () => {
    const me = await join()
    const wanted = { name: 'NotFoundError', status: 404, code: 'model_not_found', param: 'model' }
    await expectError(stage, await clerk.failing(me, 'create', { body: { ...body, model: 'org/none' } }), wanted)
    await expectError(stage, await clerk.failing(me, 'model', { id: 'org/none' }), wanted)
  })

  test('a bad request is a BadRequestError with its field, also when only the vendor objects', async () => {
    const me = await join()
    const wanted = { name: 'BadRequestError', status: 400, code: 'invalid_value', type: 'invalid_request_error' }
    const hot = { body: { ...body, temperature: 3 } }
    await expectError(stage, await clerk.failing(me, 'create', hot), { ...wanted, param: 'temperature' })
    await expectError(stage, await clerk.failing(me, 'stream', hot), { ...wanted, param: 'temperature' })
    await recordsOf(me, 0)
    const lonely = { body: { ...body, top_logprobs: 2 } }
    await expectError(stage, await clerk.failing(me, 'create', lonely), { ...wanted, param: 'top_logprobs' })
    await expectError(stage, await clerk.failing(me, 'stream', lonely), { ...wanted, param: 'top_logprobs' })
    await expectError(stage, await clerk.failing(me, 'create', { body: { ...body, model: 'rejects' } }), {
      ...wanted,
      code: expect.any(String),
    })
    for (const { charged } of await recordsOf(me, 3)) expect(charged).toBe('0')
  })
}

export function testVendorFailures(stage: Stage, clerk: Clerk): void {
  const { join, recordsOf, expectBalance, requestsDuring } = stage

  test('a vendor that fails is an InternalServerError, free of charge', async () => {
    const me = await join()
    const failed = { name: 'InternalServerError', status: 502, code: 'upstream_error', type: 'upstream_error' }
    const overloaded = { ...failed, status: 503, code: 'service_unavailable', type: 'overloaded_error' }
    const cases = { 'fails-500': failed, 'fails-502': failed, 'fails-503': overloaded }
    for (const [name, wanted] of Object.entries(cases)) {
      for (const command of ['create', 'stream'] as const) {
        const seen = await clerk.failing(me, command, { body: { model: name, ...ask('Hi') }, retriesMax: 0 })
        await expectError(stage, seen, wanted)
        expect(seen.message).toContain('Nothing was charged')
      }
    }
    const records = await recordsOf(me, 6)
    for (const record of records) expect(record).toMatchObject({ outcome: 'failed', charged: '0' })
    await expectBalance(me, records)
  })

  test('a failure that passes is retried by the SDK, and charged once', async () => {
    const me = await join()
    let usage: Usage | undefined
    const requests = await requestsDuring(async () => {
      usage = (await clerk.ask(me, 'create', { body: { model: 'flaky', ...ask('Hi') } })).completion.usage
    })
    expect(requests).toBe(2)
    const [failed, answered] = await recordsOf(me, 2)
    expect(failed).toMatchObject({ outcome: 'failed', charged: '0' })
    expect(answered).toMatchObject({ outcome: 'completed', charged: String(usage && costOf(usage)) })
  })

  test.each(['cut', 'breaks'])(
    'a stream that the vendor breaks off (%s) is an APIError after its text',
    async (name) => {
      const me = await join()
      const requests = await requestsDuring(async () => {
        const seen = await clerk.ask(me, 'stream', { body: { model: name, ...ask('Write 200 tokens') } })
        expect(seen.chunks.length).toBeWithin(3, 60)
        expect(seen.chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual([])
        const wanted = {
          name: 'APIError',
          isApiError: true,
          code: 'upstream_error',
          type: 'upstream_error',
          param: null,
        }
        expect(seen.error).toMatchObject(wanted)
        expect(seen.error?.message).toContain('What arrived was charged')
      })
      expect(requests).toBe(1)
      const records = await recordsOf(me, 1)
      const [record] = records
      expect(record).toMatchObject({ outcome: 'cut', usage_source: 'estimated' })
      expect(record?.charged).toBe(String(record && costOfRecord(record)))
      expect(Number(record?.output_text)).toBeGreaterThan(0)
      await expectBalance(me, records)
    },
  )
}

export function testHangUps(stage: Stage, clerk: Clerk, { timeout, isAbortQuiet }: Dialect): void {
  const { join, recordsOf, expectBalance, gateway } = stage

  test.each(['break', 'abort'] as const)('a stream that the client leaves by %s costs what arrived', async (leave) => {
    const me = await join()
    const body = { model: 'slow', ...ask('Write 400 tokens') }
    const seen = await clerk.ask(me, 'stream', { body, stopAfter: 6, leave })
    // Aborted by its own client, an SDK may still hand out what it had read.
    if (leave === 'break') expect(seen.chunks).toHaveLength(6)
    expect(seen.chunks.length).toBeWithin(6, 400)
    expect(seen.error === null).toBe(leave === 'break' || isAbortQuiet)
    const records = await recordsOf(me, 1)
    const [record] = records
    expect(record).toMatchObject({ id: seen.requestId, outcome: 'client_closed', status: '499' })
    expect(record?.charged).toBe(String(record && costOfRecord(record)))
    expect(Number(record?.output_text)).toBeWithin(5, 400)
    await expectBalance(me, records)
    const verified = await gateway().operate('ledger.verify')
    expect(verified).toMatchObject({ clean: true, findings: [] })
  })

  test('a call that the client gives up waiting for costs its input', async () => {
    const me = await join()
    const body = { model: 'late', ...ask('Write 400 tokens') }
    for (const command of ['create', 'stream'] as const) {
      const seen = await clerk.failing(me, command, { body, timeoutMs: 250, retriesMax: 0 })
      expect(seen).toMatchObject({ name: timeout, isApiError: true })
    }
    const records = await recordsOf(me, 2)
    for (const record of records) {
      expect(record).toMatchObject({ outcome: 'client_closed', usage_source: 'estimated', output_text: '0' })
      expect(record.charged).toBe(String(costOfRecord(record)))
    }
    await expectBalance(me, records)
  })
}

/** All of it, for one client. */
export function describeFailures(stage: Stage, clerk: Clerk, dialect: Dialect): void {
  describe('refusals', () => testRefusals(stage, clerk))
  describe('failing vendors', () => testVendorFailures(stage, clerk))
  describe('clients that leave', () => testHangUps(stage, clerk, dialect))
}
