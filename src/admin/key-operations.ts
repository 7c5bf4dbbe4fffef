/** What an operator does to API keys. */
import { z } from 'zod'
import type { Account, ApiKey } from '../domain/account.ts'
import { NO_LIMITS } from '../domain/limits.ts'
import { strayLimit, strayModel } from './allowed-models.ts'
import { visibleName } from './name.ts'
import { changedLimits, limitedModels, limitsInput, limitsView } from './limits-input.ts'
import { sayRefusal } from './refusals.ts'
import { done, notFound, operation, refused, type Changes, type Operation, type Result } from './operation.ts'
import { models, reference, withAccount, chosenAccounts } from './account-operations.ts'

const keyView = (key: ApiKey, account: Account | undefined): object => ({
  id: key.id,
  account: account?.name ?? key.accountId,
  name: key.name,
  key: `sk-tg-…${key.last4}`,
  status: key.revokedAtMs === undefined ? 'active' : 'revoked',
  models: key.allowedModels ?? null,
  limits: limitsView(key.limits),
  created_at: new Date(key.createdAtMs).toISOString(),
  revoked_at: key.revokedAtMs === undefined ? null : new Date(key.revokedAtMs).toISOString(),
})

const ofKey: Changes<{ key: string }> = {
  subject: ({ key }) => key,
  view: ({ accounts }, { key: id }) => {
    const key = accounts.findKey(id)
    return key && keyView(key, accounts.find(key.accountId))
  },
}

const noKey = (name: string): Result => refused('not_found', sayRefusal('no_key', { name }))
export const keyOperations: Readonly<Record<string, Operation>> = {
  'key.create': operation(
    z.strictObject({
      account: reference,
      name: visibleName,
      models: models.optional(),
      limits: limitsInput.optional(),
    }),
    (services, { account: wanted, name: keyName, models: allowedModels, limits = {} }) =>
      withAccount(services, wanted, async (account) => {
        const stray = strayModel(services, allowedModels) ?? strayLimit(services, limitedModels(limits))
        if (stray) return stray
        const { key, secret } = await services.accounts.createKey({
          accountId: account.id,
          name: keyName,
          allowedModels,
          limits: changedLimits(NO_LIMITS, limits),
        })
        return done({ ...keyView(key, account), secret })
      }),
    { subject: ({ account }) => account },
  ),
  'key.list': operation(z.strictObject({ account: reference.optional() }), (services, { account: wanted }) => {
    const { accounts } = services
    const chosen = chosenAccounts(services, wanted)
    if (!chosen) return notFound('account', wanted ?? '')
    return done(chosen.flatMap((account) => accounts.keysOf(account.id).map((key) => keyView(key, account))))
  }),
  'key.limits': operation(
    z.strictObject({ key: reference, limits: limitsInput }),
    async (services, { key: id, limits }) => {
      const { accounts } = services
      const key = accounts.findKey(id)
      if (!key) return noKey(id)
      const stray = strayLimit(services, limitedModels(limits), Object.keys(key.limits.models ?? {}))
      if (stray) return stray
      const changed = await accounts.updateKey(id, { limits: changedLimits(key.limits, limits) })
      return done(keyView(changed, accounts.find(key.accountId)))
    },
    ofKey,
  ),
  'key.update': operation(
    z.strictObject({ key: reference, name: visibleName.optional(), models: models.nullable().optional() }),
    async (services, { key: id, name: keyName, models: allowedModels }) => {
      const { accounts } = services
      const key = accounts.findKey(id)
      if (!key) return noKey(id)
      const stray = strayModel(services, allowedModels, key.allowedModels)
      if (stray) return stray
      const changed = await accounts.updateKey(id, { name: keyName, allowedModels })
      return done(keyView(changed, accounts.find(changed.accountId)))
    },
    ofKey,
  ),
  'key.revoke': operation(
    z.strictObject({ key: reference }),
    async ({ accounts }, { key: id }) => {
      const key = accounts.findKey(id)
      if (!key) return noKey(id)
      await accounts.revokeKey(id)
      return done(keyView(accounts.findKey(id) ?? key, accounts.find(key.accountId)))
    },
    ofKey,
  ),
}
