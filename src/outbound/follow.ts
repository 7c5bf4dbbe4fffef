/**
 * A GET that follows redirects, for files that vendors keep elsewhere. The guard checks every hop like a first request.
 * Another origin receives no headers, which may hold a credential, and has no permission for private addresses. The
 * reach of a client's URL stays `web`.
 */
import { egressToStranger } from '../domain/egress.ts'
import type { OutboundResult } from './exchange.ts'
import { checkUrl } from './guard.ts'
import type { Outbound, OutboundRequest } from './send.ts'

export type FollowLimits = {
  readonly hopsMax: number
  /** For all hops together, up to the head of the last answer. */
  readonly timeoutMs: number
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

type GetRequest = Pick<OutboundRequest, 'url' | 'headers' | 'reach' | 'stop' | 'egress'>
const broken = (message: string): OutboundResult => ({ kind: 'network', message, reached: true })

/** Resolves with the first answer that is no redirect. The caller takes its body and bounds it. */
export async function follow(
  client: Pick<Outbound, 'send'>,
  first: GetRequest,
  { hopsMax, timeoutMs }: FollowLimits,
): Promise<OutboundResult> {
  const timer = setTimeout(() => first.stop.stop(), timeoutMs)
  try {
    let get = first
    for (let hopsLeft = hopsMax; ; hopsLeft--) {
      const result = await client.send({ ...get, method: 'GET' })
      if (result.kind === 'network' || !REDIRECTS.has(result.response.status)) return result
      const { response } = result
      response.release()
      if (hopsLeft === 0) return broken('the upstream redirects too often')
      const next = nextOf(get, response.headers.get('location'))
      if (typeof next === 'string') return broken(next)
      get = next
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The next request, or the reason why the redirect is not followed. */
function nextOf(get: GetRequest, location: string | undefined): GetRequest | string {
  const here = new URL(get.url)
  // A relative location is resolved by the WHATWG rules. The result is then checked as text, like any other URL.
  const isAbsolute = location !== undefined && /^[a-z][a-z\d+.-]*:/i.test(location)
  const text = isAbsolute ? location : URL.parse(location ?? '//', get.url)?.href
  if (text === undefined) return 'the upstream redirects to nowhere'
  const checked = checkUrl(text, get.reach)
  if (checked.kind !== 'good') return 'the upstream redirects to an address that may not be called'
  const { href, origin, protocol } = checked.url
  if (origin === here.origin) return { ...get, url: href }
  if (here.protocol === 'https:' && protocol === 'http:') return 'the upstream redirects from https to http'
  const reach = get.reach === 'private' ? 'public' : get.reach
  return { ...get, url: href, headers: {}, reach, egress: egressToStranger(get.egress) }
}
