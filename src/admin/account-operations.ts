/** What an operator does to accounts. */
import { z } from 'zod'
import type { Account } from '../domain/account.ts'
import { NO_LIMITS } from '../domain/limits.ts'
import { formatUsd, parseUsd } from '../domain/money.ts'
import { timeOrderedId } from '../lib/primitives/ids.ts'
import type { Booking } from '../ledger/ledger-queries.ts'
import { OPENING } from '../ledger/system-reasons.ts'
import { strayLimit, strayModel } from './allowed-models.ts'
import { visibleName } from './name.ts'
import { changedLimits, limitedModels, limitsInput, limitsView } from './limits-input.ts'
import { sayRefusal } from './refusals.ts'
import { operationRules } from './rules.ts'
import {
  conflict,
  declaredElsewhere,
  done,
  notFound,
  operation,
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

export const models = z.array(z.string().min(1)).min(1)
export const reference = z.string().min(1)

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

/** Finds the account, or refuses because there is none. */
export async function withAccount(
  services: AdminServices,
  wanted: string,
  use: (account: Account) => Result | Promise<Result>,
): Promise<Result> {
  const account = services.accounts.find(wanted)
  return account ? use(account) : notFound('account', wanted)
}

/** The wanted account, or all accounts if none is named. Undefined if no account has that name. */
export function chosenAccounts(
  { accounts }: AdminServices,
  wanted: string | undefined,
): readonly Account[] | undefined {
  if (wanted === undefined) return accounts.list()
  const account = accounts.find(wanted)
  return account && [account]
}

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
      const stray = strayModel(services, allowedModels) ?? strayLimit(services, limitedModels(limits))
      if (stray) return stray
      const account = await services.accounts.create({
        name: wanted,
        allowedModels,
        limits: changedLimits(NO_LIMITS, limits),
      })
      if (!account) return conflict(sayRefusal('account_taken', { name: wanted }))
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
  'account.list': operation(z.strictObject({}), async (services) => {
    const accounts = services.accounts.list()
    await services.ledger.refresh(accounts.map(({ id }) => id))
    return done(accounts.map((account) => accountView(services, account)))
  }),
  'account.show': operation(z.strictObject({ account: reference }), (services, { account: wanted }) =>
    withAccount(services, wanted, async (account) => {
      await services.ledger.refresh([account.id])
      return done(accountView(services, account))
    }),
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
        const stray = strayLimit(services, limitedModels(change), Object.keys(limits.models ?? {}))
        if (stray) return stray
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
}
