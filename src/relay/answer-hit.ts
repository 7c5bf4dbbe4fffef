/** Answers a request from the answer cache. Its hold is settled first, as for any answer. */
import { hitMetered } from '../modalities/cached-answer.ts'
import type { KeptAnswer } from '../records/idempotency.ts'
import type { SettledRecord } from '../records/records.ts'
import type { Admission } from './admit.ts'
import type { Answer } from './answer.ts'
import type { CacheHit } from './cache-use.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { settle } from './finish.ts'
import { wholeHeaders } from './headers.ts'
import { SECOND_MS } from '../lib/primitives/units.ts'

export async function answerHit(
  relay: Relay,
  call: GatewayRequest,
  { admission, hit }: { readonly admission: Admission; readonly hit: CacheHit },
): Promise<Answer> {
  const { content, dropped, ageMs, contentType } = hit
  const headersFor = (record: SettledRecord): Record<string, string> => ({
    ...wholeHeaders(record, call, { contentType: contentType['content-type'], dropped }),
    ...contentType,
    age: String(Math.floor(ageMs / SECOND_MS)),
  })
  const record = await settle(relay, call, {
    admission,
    served: undefined,
    metered: hitMetered,
    // All of it is here, so only a client that has left misses anything.
    outcome: call.cancelled === 'client_closed' ? 'client_closed' : 'completed',
    answer: call.life.lock && ((settled): KeptAnswer => ({ status: 200, headers: headersFor(settled), body: content })),
  })
  return { kind: 'whole', headers: headersFor(record), content }
}
