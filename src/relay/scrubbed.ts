/** The message of an upstream failure for the client, without secrets, hosts and deployments. */
import { secretsOf, type Offer } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import { safeText } from '../lib/primitives/safe-text.ts'
import { withoutSecrets } from '../vendors/redaction.ts'
import type { ServedOffer } from './offers-outcome.ts'
import type { Relay } from './context.ts'

export const sentence = (words: string): string => (/[.!?。！？]$/.test(words) ? words : `${words}.`)

/** Names that only have a meaning inside a vendor's network, and addresses without a name. */
const INTERNAL_HOST =
  /\b(?:[\w-]+\.)+(?:internal|local|localdomain|lan|corp|svc|intranet)(?:\.[\w-]+)*(?::\d+)?|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/gi

/** The model's name at its vendor, with a suffix that a vendor may append, such as a date or a deployment. */
const deploymentsOf = ({ upstreamModel }: Offer): RegExp =>
  new RegExp(`${RegExp.escape(upstreamModel)}(?:[:@/-][\\w:@/-]*(?:\\.\\w[\\w:@/-]*)*)?`, 'g')

/** The form of field names. Anything else in that place is prose. */
const FIELD_PATH = /^[\w$.[\]"'-]{1,200}$/

/**
 * An upstream's message about a rejected request. Its own names are replaced by ours, and characters that control a
 * terminal are removed.
 */
export function scrubbed(
  relay: Pick<Relay, 'catalog'>,
  failure: Failure,
  last: Pick<ServedOffer, 'offer'> | undefined,
): Failure {
  if (!last) return failure
  const provider = relay.catalog.provider(last.offer.providerId)
  const host = provider && URL.canParse(provider.baseUrl) ? new URL(provider.baseUrl).host : ''
  const named = failure.message.replaceAll(INTERNAL_HOST, '[upstream]')
  let message = withoutSecrets(named, provider && secretsOf(provider))
  if (host !== '') message = message.replaceAll(host, '[upstream]')
  message = safeText(message.replaceAll(deploymentsOf(last.offer), () => last.offer.modelId)).toWellFormed()
  const { param, ...rest } = failure
  return param === undefined || FIELD_PATH.test(param) ? { ...failure, message } : { ...rest, message }
}
