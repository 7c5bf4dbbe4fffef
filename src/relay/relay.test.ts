import { expect, test } from 'bun:test'
import type { LockOutcome } from '../records/idempotency.ts'
import { openSqlIdempotency } from '../records/sql-idempotency.ts'
import { noChanges } from '../store/change-log.ts'
import type { Row } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { GatewayRequest, type CallStart } from './call.ts'
import type { Relay } from './context.ts'
import { answerOfOther } from './idempotency.ts'
import { relayRequest } from './relay.ts'

const account = { id: 'acct', status: 'active' }
const key = { id: 'key', accountId: 'acct' }
const once = { key: 'k', fingerprint: new Uint8Array([1]) }

test('a shutdown that begins while an idempotency key is looked up refuses the request and frees the key', async () => {
  const looked = Promise.withResolvers<readonly Row[]>()
  const asked = [Promise.resolve([]), looked.promise, looked.promise]
  const store = { query: () => asked.shift(), changes: noChanges } as unknown as Store
  const idempotency = await openSqlIdempotency(store, { bytesPerAccountMax: 1, room: { isShort: false } })
  const reasons: string[] = []
  // Only what the precheck uses is there. Anything further would fail.
  const relay = {
    accounts: { find: () => account, findKey: () => key },
    catalog: { modelNamed: () => ({ id: 'm', kind: 'text' }), priced: (model: object) => model },
    idempotency,
    notReady: () => reasons[0],
  } as unknown as Relay
  const start = { id: 'req', caller: { key, account }, request: { model: 'm' }, once } as unknown as CallStart
  const relayed = relayRequest(relay, new GatewayRequest(start))
  const second = idempotency.lock('acct', once)
  reasons.push('shutting down')
  looked.resolve([])
  const failure = { kind: 'unavailable', message: 'Not ready: shutting down.', retryAfterMs: 1_000 }
  expect(await second).toMatchObject({ kind: 'running' })
  expect(await relayed).toEqual({ kind: 'failure', failure: failure as never })
  expect(await idempotency.lock('acct', once)).toMatchObject({ kind: 'locked' })
})

test('a key that another instance locked first is answered by what the store has of it', async () => {
  const answer = { status: 200, headers: { a: 'b' }, body: 'text' }
  const kept = { kind: 'kept', requestId: 'other', answer } as const
  const outcomes = { kept, mismatch: { kind: 'mismatch' }, running: { kind: 'running', forMs: 90_000 } } as const
  let ended = 0
  const free = { kind: 'locked', lock: { end: () => void ended++ } } as unknown as LockOutcome
  const start = { id: 'req', caller: { key, account }, once } as unknown as CallStart
  const answered = (outcome: LockOutcome) => {
    const relay = { idempotency: { lock: () => Promise.resolve(outcome) } } as unknown as Relay
    return answerOfOther(relay, new GatewayRequest(start))
  }
  expect(await answered(outcomes.kept)).toEqual({ kind: 'repeated', answer, requestId: 'other' })
  expect(await answered(outcomes.mismatch)).toMatchObject({ failure: { kind: 'idempotency_mismatch' } })
  expect(await answered(outcomes.running)).toMatchObject({
    failure: { kind: 'idempotency_running', retryAfterMs: 30_000 },
  })
  // The other request left no charge, so a repetition may be carried out.
  expect(await answered(free)).toMatchObject({ failure: { kind: 'idempotency_running', retryAfterMs: 1_000 } })
  expect(ended).toBe(1)
})
