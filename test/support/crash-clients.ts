/** Clients of a gateway that is killed while they ask. They note every answer whose last byte has arrived. */
import { chat, type TestGateway } from './gateway.ts'

/** Models of a vendor at this address. */
export const modelsOf = (vendorUrl: string): string => `
providers:
  vendor: { base_url: '${vendorUrl}', allow_private: true }
models:
  small:
    price: { input: 1, output: 2 }
    offers: [{ provider: vendor, model: sandbox-mini }]
  dear:
    price: { input: 1, output: 4000 }
    output_tokens_max: 131072
    offers: [{ provider: vendor, model: sandbox-mini }]
`

/** What clients were told: request ids, with the cost where the answer named it. */
export type AcknowledgedCharges = Map<string, string | undefined>

export type Manner = 'whole' | 'stream' | 'growing whole' | 'growing stream' | 'hang up'
export const MANNERS: readonly Manner[] = [
  'whole',
  'stream',
  'growing whole',
  'growing stream',
  'whole',
  'growing stream',
  'hang up',
]
/** Without a limit, and long enough for its hold to grow. */
const LONG = { model: 'dear', messages: [{ role: 'user', content: 'Write a long story of many words. '.repeat(8) }] }

/** Asks once. Throws when the server is gone. */
export async function ask(gateway: TestGateway, manner: Manner, acknowledged: AcknowledgedCharges): Promise<void> {
  const hangUp = new AbortController()
  const stream = !manner.endsWith('whole')
  const body = manner.startsWith('growing') ? LONG : { model: 'small', max_tokens: 5 }
  const response = await chat(gateway, { ...body, stream }, { signal: hangUp.signal })
  if (manner === 'hang up') return hangUp.abort()
  const text = await response.text()
  const id = response.headers.get('x-request-id')
  const isComplete = stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}')
  if (response.status !== 200) throw new Error(`answered ${response.status}: ${text}`)
  if (isComplete && id) acknowledged.set(id, response.headers.get('x-tollgate-cost-usd') ?? undefined)
}

export async function askUntilDead(
  gateway: TestGateway,
  manner: Manner,
  acknowledged: AcknowledgedCharges,
): Promise<void> {
  try {
    for (;;) await ask(gateway, manner, acknowledged)
  } catch {
    return // The server is dead, which is the point.
  }
}
