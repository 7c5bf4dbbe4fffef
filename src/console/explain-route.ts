/** Explains which offers a request for a model would try at this moment, and in which order. */
import { z } from 'zod'
import { accountMayUse, allows } from '../domain/account.ts'
import type { Model, Offer } from '../domain/catalog.ts'
import { healthy, type OfferHealth } from '../router/health.ts'
import { planAttempts } from '../router/plan.ts'
import { policyOf } from '../router/policies/policies.ts'
import type { ConsoleContext } from './context.ts'
import { json, missing, route, type ConsoleRoute } from './route.ts'
import { isoTime } from './shapes.ts'

export const isServing = ({ state }: Offer): boolean => state !== 'drained'

const stepShape = z.strictObject({
  provider: z.string(),
  model: z.string(),
  verdict: z.enum(['first', 'next', 'last_resort', 'skipped']),
  share_percent: z.number().meta({ description: 'the share of requests that would try it first' }),
  reason: z.string().meta({ description: 'in English' }),
})

/** The offers in the order in which a request would try them now, each with the reason for its place. */
function explain({ services }: ConsoleContext, model: Model): z.infer<typeof stepShape>[] {
  const nowMs = Date.now()
  const health = services.health()
  const healthOf = ({ id }: Offer): OfferHealth => health.get(id) ?? healthy
  const restUntil = (offer: Offer): number => healthOf(offer).restUntilMs
  const isReady = (offer: Offer): boolean => isServing(offer) && restUntil(offer) <= nowMs
  const ready = model.offers.filter(isReady)
  const policy = policyOf(model)
  // A fixed `random` puts the heavier of two offers of one priority first.
  const order = planAttempts({ model, health, nowMs, random: () => 0.5 })
  const steps = order.map((offer, at): z.infer<typeof stepShape> => {
    const named = { provider: offer.providerId, model: offer.upstreamModel }
    if (!isReady(offer)) {
      const reason = `rests after failures until ${isoTime(restUntil(offer))}; tried only if no other offer is left`
      return { ...named, verdict: 'last_resort', share_percent: at === 0 ? 100 : 0, reason }
    }
    const { sharePercent, reason } = policy.explain(offer, ready, healthOf)
    return { ...named, verdict: at === 0 ? 'first' : 'next', share_percent: sharePercent, reason }
  })
  const skipped = model.offers
    .filter((offer) => !isServing(offer))
    .map((offer): z.infer<typeof stepShape> => ({
      provider: offer.providerId,
      model: offer.upstreamModel,
      verdict: 'skipped',
      share_percent: 0,
      reason: `the provider '${offer.providerId}' is drained`,
    }))
  return [...steps, ...skipped]
}

const lackNames = ['account_suspended', 'key_revoked', 'account_model', 'key_model', 'balance', 'offer'] as const
const lacks: Readonly<Record<(typeof lackNames)[number], string>> = {
  account_suspended: 'the account is suspended',
  key_revoked: 'the key is revoked',
  account_model: 'the account may not use it',
  key_model: 'the key may not use it',
  balance: 'the account has nothing available',
  offer: 'no provider offers it',
}

export const explainRoute: ConsoleRoute = route('POST', '/models/{model}/explain', {
  access: 'operator',
  summary: 'Explain a request: which offers it would try, in which order and why, and whether an account may send it.',
  body: z.strictObject({ account: z.string().optional(), key: z.string().optional() }),
  answer: z
    .strictObject({
      model: z.string(),
      policy: z.string().meta({ description: 'the routing policy of the model' }),
      admitted: z.boolean(),
      reason: z.string(),
      lacking: z.array(z.enum(lackNames)).meta({ description: 'the reasons as data; empty: admitted' }),
      steps: z.array(stepShape),
    })
    .meta({ id: 'Explanation' }),
  run: ({ context, params, body }) => {
    const { services } = context
    const model = services.catalog.model(params.model)
    if (!model) return missing('model')
    const key = body.key === undefined ? undefined : services.accounts.findKey(body.key)
    if (body.key !== undefined && !key) return missing('key')
    const account = services.accounts.find(body.account ?? key?.accountId ?? '')
    if (body.account !== undefined && !account) return missing('account')
    const lacking = [
      ...(account?.status === 'suspended' ? (['account_suspended'] as const) : []),
      ...(key?.revokedAtMs !== undefined ? (['key_revoked'] as const) : []),
      ...(account && !accountMayUse(account, model) ? (['account_model'] as const) : []),
      ...(key?.allowedModels && !allows(key.allowedModels, model) ? (['key_model'] as const) : []),
      ...(account && services.ledger.balance(account.id).available <= 0n ? (['balance'] as const) : []),
      ...(model.offers.some(isServing) ? [] : (['offer'] as const)),
    ]
    const reason =
      lacking.length === 0
        ? 'it would be tried at the offers below, in this order'
        : lacking.map((lack) => lacks[lack]).join('; ')
    const { name: policy } = policyOf(model)
    const steps = explain(context, model)
    return json({ model: model.id, policy, admitted: lacking.length === 0, reason, lacking, steps })
  },
})
