/**
 * `tollgate.yaml`: providers, models, prices, offers, aliases, wildcards and accounts, with `${ENV}` substitution and
 * errors by line.
 * Over 300 lines: one schema, and the checks of the references between its parts.
 */
import { isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml'
import { z } from 'zod'
import { positiveCount as count, strict } from './declaration-shape.ts'
import { declaredProvider, providerDraftOf } from './declared-provider.ts'
import { modelKinds, type AliasDraft, type ModelDraft, type ProviderDraft } from './domain/catalog.ts'
import { NO_LIMITS, type Limits, type ModelRates } from './domain/limits.ts'
import type { NanoUsd } from './domain/money.ts'
import {
  accountPricesOf,
  cardOf,
  declaredFactor as factor,
  declaredPrice as price,
  declaredUsd as usd,
  type CardPrices,
  type DeclaredAccountPrice,
  type FailAt,
  type StatedCard,
} from './declared-prices.ts'
import { parseMarkUp, type MarkUp } from './prices/mark-up.ts'
import { hasList, listedCost } from './prices/vendor-models.ts'
import { imageFactsOf } from './vendors/image-facts.ts'
import { modelLimitFields, modelLimitsOf } from './vendors/model-limits.ts'
import { findPreset } from './vendors/presets.ts'

export type DeclaredAccount = {
  readonly name: string
  readonly openingBalance: NanoUsd
  readonly allowedModels: readonly string[] | undefined
  readonly limits: Limits
  readonly prices: readonly DeclaredAccountPrice[]
}

export type DeclaredCatalog = {
  readonly providers: readonly ProviderDraft[]
  readonly models: readonly ModelDraft[]
  readonly aliases?: readonly AliasDraft[]
  readonly accounts: readonly DeclaredAccount[]
}

/** `openai/*`: all models that the price list has for a provider, behind a prefix. */
export type DeclaredWildcard = {
  /** With the slash. */
  readonly prefix: string
  readonly providerId: string
  readonly preset: string
  /** Undefined: TOLLGATE_MARKUP. */
  readonly by: MarkUp | undefined
}

export type Declaration = DeclaredCatalog & {
  readonly wildcards: readonly DeclaredWildcard[]
  readonly sandbox: boolean | undefined
  readonly upstreamMessages: boolean | undefined
}

/** A declaration that cannot be used. The message names the file and the line. */
class DeclarationError extends Error {
  override readonly name = 'DeclarationError'
}

const offer = strict({
  provider: z.string(),
  model: z.string().min(1),
  cost: price.optional(),
  priority: z.int().min(0).default(0),
  weight: count.default(1),
  context_tokens: count.optional(),
})

const model = strict({
  price,
  owned_by: z.string().optional(),
  kind: z.enum(modelKinds).default('text'),
  ...modelLimitFields,
  offers: z.array(offer).min(1),
})

const rates = strict({
  requests_per_minute: count.optional(),
  tokens_per_minute: count.optional(),
  concurrent_requests: count.optional(),
})
const ratesOf = (stated: z.infer<typeof rates>): ModelRates => ({
  requestsPerMinute: stated.requests_per_minute,
  tokensPerMinute: stated.tokens_per_minute,
  concurrentRequests: stated.concurrent_requests,
})

const limits = strict({
  ...rates.shape,
  spend_per_day: usd.optional(),
  spend_per_month: usd.optional(),
  /** Further limits of single models, by id or alias. */
  models: z.record(z.string(), rates).optional(),
}).transform((stated): Limits => ({
  ...ratesOf(stated),
  spendPerDay: stated.spend_per_day,
  spendPerMonth: stated.spend_per_month,
  models:
    stated.models &&
    Object.fromEntries(Object.entries(stated.models).map(([name, limited]) => [name, ratesOf(limited)])),
}))

const account = strict({
  opening_balance: usd.default(0n),
  models: z.array(z.string()).optional(),
  limits: limits.optional(),
  /** The factor of the price of each model that `prices` does not name. */
  price_factor: factor.optional(),
  /** By model: a price of its own, or `{ factor: 0.8 }`. */
  prices: z.record(z.string(), strict({ ...price.shape, factor: factor.optional() })).default({}),
})

const wildcard = strict({
  /** The provider whose models it stands for. Left out: the one of its name. */
  provider: z.string().optional(),
  /** The mark-up on list prices. Left out: TOLLGATE_MARKUP. */
  mark_up: z.union([z.string(), z.number()]).optional(),
})
const WILDCARD = /^(\w[\w.:@-]{0,62}\/)\*$/

const declaration = strict({
  sandbox: z.boolean().optional(),
  upstream_messages: z.boolean().optional(),
  providers: z.record(z.string(), declaredProvider).default({}),
  models: z.record(z.string(), model).default({}),
  /** Other names for models, each with the id of its model. */
  aliases: z.record(z.string(), z.string()).default({}),
  /** All models of a vendor's list, as `openai/*`. */
  wildcards: z.record(z.string(), wildcard).default({}),
  accounts: z.record(z.string(), account).default({}),
})

/** Reads a declaration. Throws a `DeclarationError` that names `file:line`. */
export function readDeclaration(text: string, file: string, env: Env): Declaration {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const fail = (offset: number | undefined, message: string): never => {
    throw new DeclarationError(`${file}:${lines.linePos(offset ?? 0).line}: ${message}`)
  }
  for (const { pos, message } of document.errors) fail(pos[0], message)
  substitute(document, env, fail)
  const read = declaration.safeParse(document.toJS() ?? {})
  if (!read.success) {
    // A misspelt key makes other keys missing, so the message names the misspelt one.
    const issue = read.error.issues.find(({ code }) => code === 'unrecognized_keys') ?? read.error.issues[0]
    const path = [...(issue?.path ?? [])]
    if (issue?.code === 'unrecognized_keys') path.push(issue.keys[0] ?? '')
    return fail(offsetAt(document, path), `${path.join('.')}: ${issue?.message}`)
  }
  return resolve(read.data, { env, file, fail: (path, message) => fail(offsetAt(document, path), message) })
}

type Env = Readonly<Record<string, string | undefined>>
type Fail = (offset: number | undefined, message: string) => never

/** Replaces `${NAME}` in every string by the value from the environment. */
function substitute(document: Document.Parsed, env: Env, fail: Fail): void {
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== 'string') return
      node.value = node.value.replace(/\$\{(\w+)\}/g, (_match, name: string) => {
        return env[name] ?? fail(node.range?.[0], `the environment has no ${name}`)
      })
    },
  })
}

/** The offset of the node at a path, or of its nearest parent that exists. */
function offsetAt(document: Document.Parsed, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const parent = document.getIn(path.slice(0, length - 1), true) ?? document.contents
    const key = path[length - 1]
    const items = (parent as { items?: unknown[] } | undefined)?.items ?? []
    for (const [i, item] of items.entries()) {
      const pair = item as { key?: unknown; range?: [number, number, number] }
      if (isScalar(pair.key) && pair.key.value === key) return pair.key.range?.[0]
      if (i === key && pair.range) return pair.range[0]
    }
  }
  return document.contents?.range?.[0]
}

type Reading = { readonly env: Env; readonly file: string; readonly fail: FailAt }

/** Checks the references between parts, and turns the contents of the file into drafts. */
function resolve(read: z.infer<typeof declaration>, { env, file, fail }: Reading): Declaration {
  const providers = Object.entries(read.providers).map(([id, declared]) =>
    providerDraftOf(declared, { id, file, fail }),
  )
  const modelOf = ([id, declared]: [string, z.infer<typeof model>]): ModelDraft => {
    const paintsInTurn = declared.image !== undefined && imageFactsOf(declared.image).surface === 'turn'
    const sold = { kind: declared.kind, paintsInTurn }
    const priceOf = (stated: StatedCard, path: readonly PropertyKey[]): CardPrices =>
      cardOf(stated, sold, { path, fail })
    const sale = priceOf(declared.price, ['models', id, 'price'])
    const offers = declared.offers.map((entry, i) => {
      const path = ['models', id, 'offers', i]
      if (!(entry.provider in read.providers) && !isImplied(entry.provider, read.sandbox, env)) {
        fail([...path, 'provider'], `no provider '${entry.provider}' is declared`)
      }
      const { provider: providerId, model: upstreamModel, priority, weight, context_tokens: contextTokens } = entry
      const preset = read.providers[entry.provider]?.preset ?? findPreset(entry.provider)?.id
      const { units: cost, tiers: costTiers } = entry.cost
        ? priceOf(entry.cost, [...path, 'cost'])
        : (listedCost(preset, entry.model, Date.now()) ?? sale)
      return { providerId, upstreamModel, priority, weight, contextTokens, cost, costTiers }
    })
    const upscaler = declared.video?.upscaler
    if (upscaler !== undefined && !(upscaler in read.providers) && !isImplied(upscaler, read.sandbox, env)) {
      fail(['models', id, 'video', 'upscaler'], `no provider '${upscaler}' is declared`)
    }
    const { owned_by: ownedBy, kind } = declared
    const limits = modelLimitsOf(declared)
    return { id, ownedBy, kind, limits, price: sale.units, priceTiers: sale.tiers, offers }
  }
  const models = Object.entries(read.models).map(modelOf)
  const pricesOf = (name: string, stated: z.infer<typeof account>): readonly DeclaredAccountPrice[] =>
    accountPricesOf(stated, { models, aliases: read.aliases }, { path: ['accounts', name], fail })
  const accounts = Object.entries(read.accounts).map(([name, declared]): DeclaredAccount => {
    const { opening_balance: openingBalance, models: allowedModels, limits: stated = NO_LIMITS } = declared
    const wide = Object.keys(stated.models ?? {}).find((model) => model.endsWith('/*'))
    if (wide !== undefined) {
      fail(['accounts', name, 'limits', 'models', wide], 'a limit is for one model, by its id or an alias')
    }
    return { name, openingBalance, allowedModels, limits: stated, prices: pricesOf(name, declared) }
  })
  return {
    sandbox: read.sandbox,
    upstreamMessages: read.upstream_messages,
    providers,
    models,
    ...namesIn(read, env, fail),
    accounts,
  }
}

/** Aliases and wildcards. An alias may stand for a model that the file does not declare. */
function namesIn(
  read: z.infer<typeof declaration>,
  env: Env,
  fail: FailAt,
): Pick<Declaration, 'aliases' | 'wildcards'> {
  const aliases = Object.entries(read.aliases).map(([id, modelId]) => {
    if (Object.hasOwn(read.models, id))
      fail(['aliases', id], `there is a model '${id}', so no alias can have this name`)
    if (Object.hasOwn(read.aliases, modelId)) fail(['aliases', id], `'${modelId}' is an alias itself; name the model`)
    return { id, modelId }
  })
  const wildcards = Object.entries(read.wildcards).map(([name, declared]): DeclaredWildcard => {
    const path = ['wildcards', name]
    const prefix = WILDCARD.exec(name)?.[1] ?? fail(path, 'must be a name and /*, such as openai/*')
    const { provider: providerId = prefix.slice(0, -1), mark_up: markUp } = declared
    const isDeclared = providerId in read.providers
    if (!isDeclared && !isImplied(providerId, read.sandbox, env)) {
      fail(path, `no provider '${providerId}' is declared`)
    }
    const preset = read.providers[providerId]?.preset ?? providerId
    if (!hasList(preset)) fail(path, `no price list has the models of the provider '${providerId}'`)
    const by = markUp === undefined ? undefined : parseMarkUp(String(markUp))
    if (markUp !== undefined && by === undefined) fail([...path, 'mark_up'], 'must be a percentage, such as 20%')
    return { prefix, providerId, preset, by }
  })
  return { aliases, wildcards }
}

/** Providers that exist without being declared: the sandbox, and every vendor whose key is in the environment. */
function isImplied(provider: string, sandbox: boolean | undefined, env: Env): boolean {
  if (provider === 'sandbox') return sandbox ?? true
  const variable = findPreset(provider)?.keyVariable
  return variable !== undefined && Boolean(env[variable])
}
