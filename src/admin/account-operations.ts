import { z } from 'zod'
import type { Account, ApiKey } from '../domain/account.ts'
import { NO_LIMITS } from '../domain/limits.ts'
import { formatUsd, parseUsd } from '../domain/money.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import type { Booking, StoredHold } from '../ledger/ledger-queries.ts'
import { OPENING } from '../ledger/system-reasons.ts'
import type { KeptRefusal } from '../records/refused.ts'
import type { RecentPage, StoredRecord } from '../records/records.ts'
import { strayModel } from './allowed-models.ts'
import { visibleName } from './name.ts'
import { changedLimits, limitsInput, limitsView } from './limits-input.ts'
import { sayRefusal } from './refusals.ts'
import { operationRules } from './rules.ts'
import {
  conflict,
  declaredElsewhere,
  done,
  notFound,
  operation,
  refused,
  type Changes,
  type AdminServices,
  type Operation,
  type Result,
} from './operation.ts'

/** Dollars as decimal text, exact to the nano-dollar. */
const dollars = z.string().transform((text, context) => {
  const amount = parseUsd(text)
  if (amount !== undefined && amount > 0n) return amount
  context.addIssue({ code: 'custom', message: operationRules.amount })
  return z.NEVER
})
/** The opening balance of an account, which may be zero. */
const openingBalance = z.string().transform((text, context) => {
  const amount = parseUsd(text)
  if (amount !== undefined && amount >= 0n) return amount
  context.addIssue({ code: 'custom', message: operationRules.opening_balance })
  return z.NEVER
})
const models = z.array(z.string().min(1)).min(1)
const reference = z.string().min(1)

function accountView({ ledger, accounts }: AdminServices, account: Account): object {
  const { posted, held, available } = ledger.balance(account.id)
  return {
    id: account.id,
    name: account.name,
    status: account.status,
    origin: account.origin,
    models: account.allowedModels ?? null,
    limits: limitsView(account.limits),
    low_balance_usd: account.lowBalance === undefined ? null : formatUsd(account.lowBalance),
    available_usd: formatUsd(available),
    held_usd: formatUsd(held),
    posted_usd: formatUsd(posted),
    available_nano_usd: available.toString(),
    held_nano_usd: held.toString(),
    posted_nano_usd: posted.toString(),
    active_keys: accounts.keysOf(account.id).filter(({ revokedAtMs }) => revokedAtMs === undefined).length,
    created_at: new Date(account.createdAtMs).toISOString(),
  }
}

/** A request that held money has a record once it has ended, unless the server stopped before that. */
const whyUnrecorded: Partial<Record<StoredHold['state'], 'request_running' | 'request_lost'>> = {
  open: 'request_running',
  expired: 'request_lost',
}

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

const journalView = ({ kind, amount, ref, reason, createdAtMs }: Booking): object => ({
  created_at: new Date(createdAtMs).toISOString(),
  kind,
  amount_usd: formatUsd(amount),
  amount_nano_usd: amount.toString(),
  ref,
  reason,
})

/** What the audit log keeps about an account and about a key. */
const ofAccount: Changes<{ account: string }> = {
  subject: ({ account }) => account,
  view: (services, { account: wanted }) => {
    const account = services.accounts.find(wanted)
    return account && accountView(services, account)
  },
}
const ofKey: Changes<{ key: string }> = {
  subject: ({ key }) => key,
  view: ({ accounts }, { key: id }) => {
    const key = accounts.findKey(id)
    return key && keyView(key, accounts.find(key.accountId))
  },
}

/** Finds the account, or refuses because there is none. */
async function withAccount(
  services: AdminServices,
  wanted: string,
  use: (account: Account) => Result | Promise<Result>,
): Promise<Result> {
  const account = services.accounts.find(wanted)
  return account ? use(account) : notFound('account', wanted)
}

/** The wanted account, or all accounts if none is named. Undefined if no account has that name. */
function chosenAccounts({ accounts }: AdminServices, wanted: string | undefined): readonly Account[] | undefined {
  if (wanted === undefined) return accounts.list()
  const account = accounts.find(wanted)
  return account && [account]
}

type NamedRecord = StoredRecord & { readonly account: string }

/** A request that was refused; `refused` tells it from a record. */
const refusalView = ({ accounts }: AdminServices, kept: KeptRefusal): object => ({
  refused: true,
  id: kept.id,
  account: kept.accountId === undefined ? null : (accounts.find(kept.accountId)?.name ?? kept.accountId),
  key_id: kept.keyId ?? null,
  method: kept.method,
  endpoint: kept.endpoint,
  model: kept.model ?? null,
  status: kept.status,
  code: kept.code,
  created_at: new Date(kept.atMs).toISOString(),
  repeats: kept.repeats,
  last_at: new Date(kept.lastAtMs).toISOString(),
})

/** The newest requests of an account, each with the account's name. */
async function requestsOf(
  services: AdminServices,
  { id, name: account }: Account,
  page: RecentPage,
): Promise<readonly NamedRecord[]> {
  return (await services.records.recent(id, page)).map((record) => ({ ...record, account }))
}

const noKey = (name: string): Result => refused('not_found', sayRefusal('no_key', { name }))

const byIdDescending = (a: { readonly [name: string]: unknown }, b: { readonly [name: string]: unknown }): number =>
  String(a['id']) < String(b['id']) ? 1 : -1

const adjustment = z.strictObject({
  account: reference,
  amount: dollars,
  reason: z.string().trim().min(1).max(500),
  /** The same reference is never booked twice: a retried credit stays one credit. */
  ref: z.string().min(1).max(200).optional(),
})

const adjust = (kind: 'credit' | 'debit' | 'refund'): Operation =>
  operation(
    adjustment,
    (services, { account: wanted, amount, reason, ref }) =>
      withAccount(services, wanted, async (account) => {
        const booked = ref ?? timeOrderedId(`${kind}_`)
        const result = await services.ledger.adjust({ accountId: account.id, amount, kind, ref: booked, reason })
        switch (result.kind) {
          case 'booked':
            return done({ ref: booked, ...accountView(services, account) })
          case 'not_provided':
          case 'duplicate_ref':
            return conflict(sayRefusal('ref_booked', { ref: booked }))
          case 'insufficient':
            return conflict(sayRefusal('balance_short', { amount: formatUsd(amount) }))
          case 'too_large':
            return conflict(sayRefusal('balance_full'))
          case 'unknown_account':
            return notFound('account', wanted)
        }
      }),
    ofAccount,
  )

const setStatus = (status: 'active' | 'suspended'): Operation =>
  operation(
    z.strictObject({ account: reference }),
    (services, { account: wanted }) =>
      withAccount(services, wanted, async ({ id }) =>
        done(accountView(services, await services.accounts.update(id, { status }))),
      ),
    ofAccount,
  )

export const accountOperations: Readonly<Record<string, Operation>> = {
  'account.create': operation(
    z.strictObject({
      name: visibleName,
      models: models.optional(),
      balance: openingBalance.optional(),
      limits: limitsInput.optional(),
    }),
    async (services, { name: wanted, models: allowedModels, balance, limits = {} }) => {
      if (services.accounts.isTaken(wanted)) return conflict(sayRefusal('account_taken', { name: wanted }))
      const stray = strayModel(services, allowedModels)
      if (stray) return stray
      const account = await services.accounts.create({
        name: wanted,
        allowedModels,
        limits: changedLimits(NO_LIMITS, limits),
      })
      services.ledger.register(account.id)
      if (balance !== undefined && balance > 0n) {
        const ref = `opening:${account.id}`
        await services.ledger.adjust({
          accountId: account.id,
          amount: balance,
          kind: 'credit',
          ref,
          reason: OPENING,
        })
      }
      return done(accountView(services, account))
    },
    { subject: ({ name: wanted }) => wanted },
  ),
  'account.list': operation(z.strictObject({}), (services) =>
    done(services.accounts.list().map((account) => accountView(services, account))),
  ),
  'account.show': operation(z.strictObject({ account: reference }), (services, { account: wanted }) =>
    withAccount(services, wanted, (account) => done(accountView(services, account))),
  ),
  'account.credit': adjust('credit'),
  'account.debit': adjust('debit'),
  'account.refund': adjust('refund'),
  'account.journal': operation(
    z.strictObject({
      account: reference,
      limit: z.int().min(1).max(1000).default(100),
      before: reference.optional(),
    }),
    (services, { account: wanted, ...page }) =>
      withAccount(services, wanted, async ({ id }) => done((await services.books.bookings(id, page)).map(journalView))),
  ),
  'account.suspend': setStatus('suspended'),
  'account.resume': setStatus('active'),
  'account.models': operation(
    z.strictObject({ account: reference, models: models.nullable() }),
    (services, { account: wanted, models: allowedModels }) =>
      withAccount(services, wanted, async ({ id, origin, allowedModels: before }) => {
        if (origin === 'declared') return declaredElsewhere('account', wanted)
        const stray = strayModel(services, allowedModels, before)
        return stray ?? done(accountView(services, await services.accounts.update(id, { allowedModels })))
      }),
    ofAccount,
  ),
  'account.limits': operation(
    z.strictObject({ account: reference, limits: limitsInput }),
    (services, { account: wanted, limits: change }) =>
      withAccount(services, wanted, async ({ id, origin, limits }) => {
        if (origin === 'declared') return declaredElsewhere('account', wanted)
        return done(
          accountView(services, await services.accounts.update(id, { limits: changedLimits(limits, change) })),
        )
      }),
    ofAccount,
  ),
  /** The threshold is a wish of the account and limits nothing, so a declared account may change it too. */
  'account.low_balance': operation(
    z.strictObject({ account: reference, below: dollars.nullable() }),
    (services, { account: wanted, below }) =>
      withAccount(services, wanted, async ({ id }) =>
        done(accountView(services, await services.accounts.update(id, { lowBalance: below }))),
      ),
    ofAccount,
  ),
  'key.create': operation(
    z.strictObject({
      account: reference,
      name: visibleName,
      models: models.optional(),
      limits: limitsInput.optional(),
    }),
    (services, { account: wanted, name: keyName, models: allowedModels, limits = {} }) =>
      withAccount(services, wanted, async (account) => {
        const stray = strayModel(services, allowedModels)
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
    async ({ accounts }, { key: id, limits }) => {
      const key = accounts.findKey(id)
      if (!key) return noKey(id)
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
  'request.list': operation(
    z.strictObject({
      account: reference.optional(),
      limit: z.int().min(1).max(1000).default(20),
      before: reference.optional(),
    }),
    async (services, { account: wanted, limit, before }) => {
      const chosen = chosenAccounts(services, wanted)
      if (!chosen) return notFound('account', wanted ?? '')
      const lists = await Promise.all(chosen.map((account) => requestsOf(services, account, { limit, before })))
      // Ids are ordered by time, so the newest of all accounts are the greatest.
      return done(lists.flat().toSorted(byIdDescending).slice(0, limit))
    },
  ),
  'request.refused': operation(
    z.strictObject({
      account: reference.optional(),
      limit: z.int().min(1).max(1000).default(20),
      before: reference.optional(),
      code: reference.optional(),
      status: z.int().min(400).max(599).optional(),
    }),
    async (services, { account: wanted, ...page }) => {
      const chosen = chosenAccounts(services, wanted)
      if (!chosen) return notFound('account', wanted ?? '')
      // Refusals without a known account are included if no account is named.
      const ids = [...chosen.map(({ id }) => id), ...(wanted === undefined ? [''] : [])]
      const lists = await Promise.all(ids.map((id) => services.refused.list(id, page)))
      const newest = lists.flat().toSorted(byIdDescending).slice(0, page.limit)
      return done(newest.map((one) => refusalView(services, one)))
    },
  ),
  'request.show': operation(
    z.strictObject({ account: reference.optional(), request: reference }),
    async (services, { account: wanted, request }) => {
      const chosen = chosenAccounts(services, wanted)
      if (!chosen) return notFound('account', wanted ?? '')
      // Two rounds: a request that ends between the look-ups of its record and its hold has a record by then.
      for (const isLast of [false, true]) {
        for (const { id, name: account } of chosen) {
          const record = await services.records.find(id, request)
          if (record) return done({ ...record, account })
        }
        const hold = isLast ? undefined : await services.books.findHold(request)
        if (!hold || !chosen.some(({ id }) => id === hold.accountId)) break
        const why = whyUnrecorded[hold.state]
        if (why) return refused('not_found', sayRefusal(why, { name: request, amount: formatUsd(hold.amount) }))
      }
      const refusal = await services.refused.find(request, wanted === undefined ? undefined : chosen[0]?.id)
      if (refusal) return done(refusalView(services, refusal))
      return wanted === undefined
        ? notFound('request', request)
        : refused('not_found', sayRefusal('no_request_of_account', { name: request }))
    },
  ),
}
