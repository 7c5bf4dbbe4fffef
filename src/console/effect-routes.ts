/** Says what a removal or a suspension would stop. The console shows it before the user confirms. */
import { z } from 'zod'
import type { Model } from '../domain/catalog.ts'
import type { ConsoleContext } from './context.ts'
import { json, missing, route, type RouteContext, type RouteReply, type ConsoleRoute } from './route.ts'
import { limit } from '../lib/primitives/limit.ts'

const IDS_MAX = limit('effectIdsMax', 20, 'Further ids are counted but not named.')

const effectsShape = z
  .strictObject({
    requests: z.int().meta({ description: 'running requests that would be cut' }),
    keys: z.int().meta({ description: 'API keys that would stop working' }),
    management_keys: z.int().meta({ description: 'management keys that would stop working' }),
    sessions: z.int().meta({ description: 'sign-ins that would end' }),
    offers: z.int().meta({ description: 'offers of models that other providers also serve' }),
    models: z.strictObject({
      total: z.int().meta({ description: 'models that would have no offer' }),
      ids: z.array(z.string()).meta({ description: `the first ${IDS_MAX} of them` }),
    }),
  })
  .meta({ id: 'Effects' })
type Effects = z.infer<typeof effectsShape>

const none: Effects = {
  requests: 0,
  keys: 0,
  management_keys: 0,
  sessions: 0,
  offers: 0,
  models: { total: 0, ids: [] },
}
const reply = (effects: Partial<Effects>): RouteReply => json({ ...none, ...effects })

const idsOf = (models: readonly Model[]): Effects['models'] => ({
  total: models.length,
  ids: models.slice(0, IDS_MAX).map(({ id }) => id),
})

/** The effects of a provider: the models that it alone serves, and its offers of other models. */
function ofProvider({ services }: ConsoleContext, providerId: string): Partial<Effects> {
  const served = services.catalog
    .models()
    .filter(({ offers }) => offers.some((offer) => offer.providerId === providerId && offer.state !== 'drained'))
  const lost = served.filter(({ offers }) =>
    offers.every((offer) => offer.providerId === providerId || offer.state === 'drained'),
  )
  return { offers: served.length - lost.length, models: idsOf(lost) }
}

/** The effects of a model: the model itself, if it has an offer, and the keys that may use no other model. */
function ofModel({ services }: ConsoleContext, model: Model): Partial<Effects> {
  const names = new Set([model.id, ...(model.aliases ?? [])])
  const isOnly = (models: readonly string[] | undefined): boolean =>
    models !== undefined && models.length > 0 && models.every((name) => names.has(name))
  const keys = services.accounts
    .list()
    .flatMap((account) =>
      services.accounts
        .keysOf(account.id)
        .filter((key) => key.revokedAtMs === undefined && (isOnly(key.allowedModels) || isOnly(account.allowedModels))),
    )
  const isServed = model.offers.some(({ state }) => state !== 'drained')
  return { keys: keys.length, ...(isServed ? { models: idsOf([model]) } : {}) }
}

function ofUser(call: RouteContext<{ account?: string; user: string }>): RouteReply {
  const { services } = call.context
  const user = services.users.find(call.params.user)
  if (!user || (call.params.account !== undefined && user.accountId !== call.params.account)) return missing('user')
  return reply({
    sessions: services.sessions.listOf(user.id).length,
    management_keys: services.managementKeys.activeOf(user.id, services.users),
  })
}

const effects = { answer: effectsShape } as const

export const effectRoutes: readonly ConsoleRoute[] = [
  route('GET', '/providers/{provider}/effects', {
    ...effects,
    access: 'operator',
    summary: 'Get what would stop if a provider were drained or removed. Its running requests go on.',
    run: ({ context, params: { provider } }) =>
      context.services.catalog.provider(provider) ? reply(ofProvider(context, provider)) : missing('provider'),
  }),
  route('GET', '/models/{model}/effects', {
    ...effects,
    access: 'operator',
    summary: 'Get what would stop if a model were removed. Its running requests go on.',
    run: ({ context, params }) => {
      const model = context.services.catalog.model(params.model)
      return model ? reply(ofModel(context, model)) : missing('model')
    },
  }),
  route('GET', '/accounts/{account}/effects', {
    ...effects,
    access: 'operator',
    summary: 'Get what would stop if an account were suspended.',
    run: ({ context: { services }, params: { account } }) =>
      reply({
        requests: services.limiter.inFlight(account),
        keys: services.accounts.keysOf(account).filter(({ revokedAtMs }) => revokedAtMs === undefined).length,
      }),
  }),
  route('GET', '/accounts/{account}/keys/{key}/effects', {
    ...effects,
    access: 'account_write',
    summary: 'Get what would stop if a key were revoked.',
    run: ({ context: { services }, params }) => {
      const key = services.accounts.findKey(params.key)
      if (key?.accountId !== params.account || key.kind !== 'client') return missing('key')
      return reply({ keys: key.revokedAtMs === undefined ? 1 : 0, requests: services.limiter.inFlight(key.id) })
    },
  }),
  route('GET', '/users/{user}/effects', {
    ...effects,
    access: 'operator_people',
    summary: 'Get what would stop if a user were disabled.',
    run: ofUser,
  }),
  route('GET', '/accounts/{account}/users/{user}/effects', {
    ...effects,
    access: 'account_people',
    summary: 'Get what would stop if a user of an account were disabled.',
    run: ofUser,
  }),
]
