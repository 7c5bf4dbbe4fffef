/** What an attempt went to, as attributes. They are written once for each target, because most attempts share them. */
import type { Provider } from '../domain/catalog.ts'
import { semanticNameOf } from '../vendors/semantic-names.ts'
import { intAttribute, textAttribute, type AttributeText } from './otlp-json.ts'

/** A target has a few models and errors. More are not kept, so that nobody can fill the memory with them. */
const KEPT_MAX = 1_000

/** `operation`: the value of `gen_ai.operation.name`. */
export type AttemptPlace = { readonly providerId: string; readonly upstreamModel: string; readonly operation: string }

export class AttemptTarget {
  /** The name of its spans, as JSON. */
  readonly spanName: string
  /** The attributes of its spans and metrics. */
  readonly attributes: AttributeText
  readonly inputTokens: AttributeText
  readonly outputTokens: AttributeText
  /** The attributes that a request and its attempts share. */
  private readonly common: AttributeText
  private readonly withErrors = new Map<string, AttributeText>()
  private readonly served = new Map<string, AttributeText>()

  constructor({ providerId, upstreamModel, operation }: AttemptPlace, provider: Provider | undefined) {
    const vendor = provider ? semanticNameOf(provider.preset) : providerId
    this.spanName = JSON.stringify(`${operation} ${upstreamModel}`)
    this.common = `${textAttribute('gen_ai.operation.name', operation)},${textAttribute('gen_ai.provider.name', vendor)}`
    const asked = textAttribute('gen_ai.request.model', upstreamModel)
    this.attributes = [this.common, asked, ...(provider ? addressOf(provider.baseUrl) : [])].join(',')
    this.inputTokens = `${this.attributes},${textAttribute('gen_ai.token.type', 'input')}`
    this.outputTokens = `${this.attributes},${textAttribute('gen_ai.token.type', 'output')}`
  }

  /** The attributes of an attempt that ended with this error, or with none. */
  withError(error: string | undefined): AttributeText {
    if (error === undefined) return this.attributes
    const known = this.withErrors.get(error)
    if (known !== undefined) return known
    const made = `${this.attributes},${textAttribute('error.type', error)}`
    this.withErrors.set(error, made)
    return made
  }

  /** The attributes of a request for a public model that ended here. */
  servedAs(model: string, error: string | undefined): AttributeText {
    const key = error === undefined ? model : `${model} ${error}`
    const known = this.served.get(key)
    if (known !== undefined) return known
    const failed = error === undefined ? '' : `,${textAttribute('error.type', error)}`
    const made = `${this.common},${textAttribute('gen_ai.request.model', model)}${failed}`
    if (this.served.size < KEPT_MAX) this.served.set(key, made)
    return made
  }
}

function addressOf(baseUrl: string): AttributeText[] {
  const url = URL.parse(baseUrl)
  if (!url) return []
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return [textAttribute('server.address', url.hostname), intAttribute('server.port', port)]
}

type ProviderFinder = { provider(id: string): Provider | undefined }

/** The targets of the providers of a catalogue. A changed provider is a new object, so it gets new targets. */
export class AttemptTargets {
  private readonly catalog: ProviderFinder
  private readonly byProvider = new WeakMap<Provider, Map<string, AttemptTarget>>()

  constructor(catalog: ProviderFinder) {
    this.catalog = catalog
  }

  of(place: AttemptPlace): AttemptTarget {
    const provider = this.catalog.provider(place.providerId)
    if (!provider) return new AttemptTarget(place, provider)
    const { upstreamModel, operation } = place
    let targets = this.byProvider.get(provider)
    if (!targets) this.byProvider.set(provider, (targets = new Map<string, AttemptTarget>()))
    const key = `${operation} ${upstreamModel}`
    let target = targets.get(key)
    if (!target) targets.set(key, (target = new AttemptTarget(place, provider)))
    return target
  }
}
