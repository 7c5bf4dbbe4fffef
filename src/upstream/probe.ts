/** One real call to a provider, to see whether address and credential work. */
import type { Provider } from '../domain/catalog.ts'
import { upstreamSideOf } from '../formats/upstream-sides.ts'
import { outbound } from '../outbound/send.ts'
import { Stop } from '../outbound/stop.ts'
import type { Preset } from '../providers/preset.ts'
import { sendAs } from './credentials.ts'

export type Probe = {
  readonly ok: boolean
  readonly status: number | undefined
  readonly tookMs: number
  /** What the provider said it serves, or what went wrong. */
  readonly models: readonly string[]
  readonly problem: string | undefined
}

const PROBE_TIMEOUT_MS = 15_000
/** Vertex lists its models outside of any project (2026-11). */
const VERTEX_PLACE = /\/projects\/[^/]+\/locations\/[^/]+(?=\/publishers\/)/
const PROBE_BYTES_MAX = 4 * 1024 * 1024

/** Asks for the provider's model list: it costs nothing and needs a valid credential nearly everywhere. */
export async function probe(provider: Provider, preset: Preset): Promise<Probe> {
  const startedMs = performance.now()
  const ended = (rest: Partial<Probe>): Probe => ({
    ok: false,
    status: undefined,
    models: [],
    problem: undefined,
    ...rest,
    tookMs: Math.round(performance.now() - startedMs),
  })
  const stop = new Stop()
  const timer = setTimeout(() => stop.stop(), PROBE_TIMEOUT_MS)
  const url = `${provider.baseUrl.replace(VERTEX_PLACE, '')}/models`
  const side = upstreamSideOf(preset.dialects)
  const { reach } = provider
  const sent = await sendAs(
    { provider, preset },
    (credential) => {
      const headers = { ...side.headers, ...credential }
      return outbound.sendForText({ url, method: 'GET', headers, stop, reach }, PROBE_BYTES_MAX)
    },
    { statusOf: (whole) => (whole.kind === 'whole' ? whole.status : undefined) },
  )
  clearTimeout(timer)
  if (sent.kind === 'failed') {
    const { kind, status, message } = sent.failure
    return ended({ status, problem: `${kind}: ${message}` })
  }
  if (sent.kind === 'network') return ended({ problem: `no connection (${sent.message})` })
  const { status, text } = sent
  if (status !== 200) {
    const failure = side.failures.response(status, sent.headers, text ?? '')
    return ended({ status, problem: `${failure.kind}: ${failure.message}` })
  }
  const models = modelIds(text)
  const problem = models ? undefined : 'it answered, but not with a model list'
  return ended({ ok: models !== undefined, status: 200, models: models ?? [], problem })
}

/** OpenAI's lists have ids, Google's names. */
type Listed = { readonly id?: unknown; readonly name?: unknown }
const GOOGLE_PREFIX = /^(?:publishers\/google\/)?models\//

function modelIds(text: string | undefined): string[] | undefined {
  try {
    const { data, models, publisherModels } = JSON.parse(text ?? '') as Partial<Record<string, Listed[]>>
    const named = (data ?? models ?? publisherModels)?.map(({ id, name }) => id ?? name)
    return named?.flatMap((id) => (typeof id === 'string' ? [id.replace(GOOGLE_PREFIX, '')] : []))
  } catch {
    return undefined // Not a model list.
  }
}
