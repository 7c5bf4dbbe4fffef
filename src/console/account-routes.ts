/** Accounts: the operator's list, and each account as its people see it. */
import { z } from 'zod'
import { visibleName } from '../admin/name.ts'
import type { Account } from '../domain/account.ts'
import { formatUsd } from '../domain/money.ts'
import type { ConsoleContext } from './context.ts'
import { limitsChange, limitsOfBody, limitsShape, consoleLimitsView } from './limits.ts'
import { sayConsoleRefusal } from './refusals.ts'
import {
  answer,
  json,
  missing,
  problem,
  route,
  type RouteContext,
  type RouteReply,
  type ConsoleRoute,
} from './route.ts'
import {
  finder,
  isoTime,
  listShapeOf,
  modelIds,
  nano,
  nanoInput,
  origin,
  pageIn,
  pageQuery,
  searchText,
  time,
} from './shapes.ts'

export const balanceShape = z
  .strictObject({
    available_nano_usd: nano,
    held_nano_usd: nano.meta({ description: 'reserved for running requests, as an integer of nano-USD' }),
    posted_nano_usd: nano.meta({ description: 'available and held together, in nano-USD' }),
  })
  .meta({ id: 'Balance' })
const modelsShape = z.array(z.string()).nullable().meta({ description: 'the models it may use; null: all' })
const accountShape = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    status: z.enum(['active', 'suspended']),
    origin: origin.meta({
      description: 'declared: its models and limits are set in tollgate.yaml and are read-only here',
    }),
    models: modelsShape,
    limits: limitsShape,
    low_balance_nano_usd: nano
      .nullable()
      .meta({ description: 'the console warns below this available balance; null: never' }),
    balance: balanceShape,
    active_keys: z.int(),
    created_at: time,
  })
  .meta({ id: 'Account' })

export function accountBalanceView({ services }: ConsoleContext, accountId: string): z.infer<typeof balanceShape> {
  const { available, held, posted } = services.ledger.balance(accountId)
  return {
    available_nano_usd: available.toString(),
    held_nano_usd: held.toString(),
    posted_nano_usd: posted.toString(),
  }
}

const accountView = (context: ConsoleContext, account: Account): z.infer<typeof accountShape> => ({
  id: account.id,
  name: account.name,
  status: account.status,
  origin: account.origin,
  models: account.allowedModels ? [...account.allowedModels] : null,
  limits: consoleLimitsView(account.limits),
  low_balance_nano_usd: account.lowBalance?.toString() ?? null,
  balance: accountBalanceView(context, account.id),
  active_keys: context.services.accounts.keysOf(account.id).filter(({ revokedAtMs }) => revokedAtMs === undefined)
    .length,
  created_at: isoTime(account.createdAtMs),
})

/** The account in the path. The dispatcher has checked that it exists. */
export function accountIn({ context, params }: Pick<RouteContext<{ account: string }>, 'context' | 'params'>): Account {
  const account = context.services.accounts.find(params.account)
  if (!account) throw new Error('the account of a route is there')
  return account
}

const show = (call: Pick<RouteContext, 'context'>, id: string): RouteReply => {
  const account = call.context.services.accounts.find(id)
  return account ? json(accountView(call.context, account)) : missing('account')
}

const listQuery = z.strictObject({
  ...pageQuery,
  q: searchText.meta({ description: 'part of the name or of the id, or the id of a key, or the end of a key: …WXYZ' }),
  status: z.enum(['active', 'suspended']).optional(),
})

/** The end of a key, alone or as it is shown, `sk-tg-…WXYZ`. Keys are case-sensitive. */
const KEY_END = /^(?:sk-tg-)?(?:…|\.\.\.)?(\w{4})$/

function matcher(
  { services }: ConsoleContext,
  { q = '', status }: z.infer<typeof listQuery>,
): (account: Account) => boolean {
  const wanted = q.trim()
  const isFound = finder(wanted)
  const [, end] = KEY_END.exec(wanted) ?? []
  const owner = services.accounts.findKey(wanted)?.accountId
  return (account) =>
    (status === undefined || account.status === status) &&
    (isFound([account.name], account.id) ||
      account.id === owner ||
      (end !== undefined && services.accounts.keysOf(account.id).some(({ last4 }) => last4 === end)))
}

const draft = z.strictObject({
  name: visibleName,
  models: modelIds.optional(),
  limits: limitsChange.optional(),
  balance_nano_usd: nanoInput.optional(),
})

const change = z.strictObject({
  status: z.enum(['active', 'suspended']).optional(),
  models: modelIds.nullable().optional(),
  limits: limitsChange.optional(),
})

/** Runs several operations in sequence. Everything that could refuse one of them is checked before the first. */
async function changeAccount(
  call: RouteContext<{ account: string }, unknown, z.infer<typeof change>>,
): Promise<RouteReply> {
  const { id, origin: from } = accountIn(call)
  const { status, models, limits } = call.body
  if (from === 'declared' && (models !== undefined || limits !== undefined)) {
    return problem(409, 'declared', sayConsoleRefusal('account_declared'))
  }
  const steps: [string, object][] = [
    ...(models === undefined ? [] : [['account.models', { models }] as [string, object]]),
    ...(limits === undefined ? [] : [['account.limits', { limits: limitsOfBody(limits) }] as [string, object]]),
    ...(status === undefined
      ? []
      : [[status === 'active' ? 'account.resume' : 'account.suspend', {}] as [string, object]]),
  ]
  for (const [name, input] of steps) {
    const result = await call.operate(name, { account: id, ...input })
    if (!result.ok) return answer(result, () => undefined)
  }
  return show(call, id)
}

const adjustment = z.strictObject({
  kind: z.enum(['credit', 'debit', 'refund']),
  amount_nano_usd: nanoInput,
  reason: z.string().trim().min(1).max(500),
  ref: z.string().min(1).max(200).optional().meta({ description: 'a reference is never booked twice' }),
})

export const accountRoutes: readonly ConsoleRoute[] = [
  route('GET', '/accounts', {
    access: 'operator',
    summary: 'List accounts, newest first.',
    query: listQuery,
    answer: listShapeOf(accountShape),
    run: async ({ context, query }) => {
      const { accounts, ledger } = context.services
      await ledger.refresh(accounts.list().map(({ id }) => id))
      const fitting = accounts.list().filter(matcher(context, query))
      return json(pageIn(fitting, query, (account) => accountView(context, account), { order: 'newest' }))
    },
  }),
  route('POST', '/accounts', {
    access: 'operator',
    summary: 'Create an account.',
    body: draft,
    answer: accountShape,
    run: async (call) => {
      const { name, models, limits, balance_nano_usd: balance } = call.body
      const result = await call.operate('account.create', {
        name,
        ...(models === undefined ? {} : { models }),
        ...(limits === undefined ? {} : { limits: limitsOfBody(limits) }),
        ...(balance === undefined || balance === 0n ? {} : { balance: formatUsd(balance) }),
      })
      return result.ok ? show(call, (result.value as { id: string }).id) : answer(result, () => undefined)
    },
  }),
  route('GET', '/accounts/{account}', {
    access: 'account_read',
    summary: 'Get an account with its balance and limits.',
    answer: accountShape,
    run: async (call) => {
      await call.context.services.ledger.refresh([call.params.account])
      return json(accountView(call.context, accountIn(call)))
    },
  }),
  route('PATCH', '/accounts/{account}', {
    access: 'operator',
    summary: 'Suspend or resume an account, or change its models and limits. A suspension cuts running requests.',
    body: change,
    answer: accountShape,
    run: changeAccount,
  }),
  route('PUT', '/accounts/{account}/low-balance', {
    access: 'account_write',
    summary: 'Set the available balance below which the console warns the people of an account. Null means never.',
    body: z.strictObject({ threshold_nano_usd: nanoInput.nullable() }),
    answer: accountShape,
    run: async (call) => {
      const { threshold_nano_usd: threshold } = call.body
      // No balance is below zero.
      const below = threshold === null || threshold === 0n ? null : formatUsd(threshold)
      const result = await call.operate('account.low_balance', { account: call.params.account, below })
      return result.ok ? show(call, call.params.account) : answer(result, () => undefined)
    },
  }),
  route('POST', '/accounts/{account}/adjustments', {
    access: 'operator',
    summary: 'Credit, debit or refund an account, with a reason for the ledger.',
    body: adjustment,
    answer: accountShape,
    run: async (call) => {
      const { kind, amount_nano_usd: amount, reason, ref } = call.body
      const input = {
        account: call.params.account,
        amount: formatUsd(amount),
        reason,
        ...(ref === undefined ? {} : { ref }),
      }
      const result = await call.operate(`account.${kind}`, input)
      return result.ok ? show(call, call.params.account) : answer(result, () => undefined)
    },
  }),
]
