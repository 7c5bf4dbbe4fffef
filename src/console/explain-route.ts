/** Explains which offers a request for a model would try at this moment, and in which order. */
import { z } from 'zod'
import { accountMayUse, allows } from '../domain/account.ts'
import { explainedRequest, explainPlan, isServing, stepShape } from '../admin/explain.ts'
import { policyOf } from '../router/policies/policies.ts'
import { json, missing, route, type ConsoleRoute } from './route.ts'

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
  body: z.strictObject({ account: z.string().optional(), key: z.string().optional(), ...explainedRequest }),
  answer: z
    .strictObject({
      model: z.string(),
      policy: z.string().meta({ description: 'the routing policy' }),
      admitted: z.boolean(),
      reason: z.string(),
      lacking: z.array(z.enum(lackNames)).meta({ description: 'the reasons as data; empty: admitted' }),
      steps: z.array(stepShape),
    })
    .meta({ id: 'Explanation' }),
  run: ({ context, params, body }) => {
    const { services } = context
    const model = services.catalog.modelNamed(params.model)
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
    const { name: policy } = policyOf(model, body.routing)
    const steps = explainPlan(services, model, body)
    return json({ model: model.id, policy, admitted: lacking.length === 0, reason, lacking, steps })
  },
})
