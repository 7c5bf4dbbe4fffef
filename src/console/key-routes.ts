/** API keys of an account, and the token with which the playground calls the API. */
import { z } from 'zod'
import { visibleName } from '../admin/name.ts'
import type { ApiKey } from '../domain/account.ts'
import { accountIn } from './account-routes.ts'
import type { ConsoleContext } from './context.ts'
import { limitsChange, limitsOfBody, limitsShape, consoleLimitsView } from './limits.ts'
import { rightsIn } from './principal.ts'
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
  isoTimeOrNull,
  listShapeOf,
  modelIds,
  nano,
  pageIn,
  pageQuery,
  searchText,
  time,
} from './shapes.ts'
import type { KeySpends } from '../records/usage-rollups.ts'
import { monthStartHour } from '../accounts/calendar.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

const keyShape = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    key: z.string().meta({ description: 'the end of the key; the rest is masked' }),
    status: z.enum(['active', 'revoked']),
    models: z
      .array(z.string())
      .nullable()
      .meta({ description: 'the models of the account that it may use; null: all' }),
    limits: limitsShape,
    spent_today_nano_usd: nano,
    spent_this_month_nano_usd: nano,
    held_nano_usd: nano,
    last_used_at: time.nullable().meta({ description: 'to the hour, within the last 30 days' }),
    created_at: time,
    revoked_at: time.nullable(),
  })
  .meta({ id: 'ApiKey' })
type KeyShape = z.infer<typeof keyShape>
const newKeyShape = keyShape
  .extend({ secret: z.string().meta({ description: 'the full key, shown only once' }) })
  .meta({ id: 'NewApiKey' })

const HOURS_PER_DAY = 24
const LAST_USED_HOURS = 30 * HOURS_PER_DAY
/** The playground renews its token in time. A leaked token is useless soon. */
const PASS_MS = limit('playTokenMs', 10 * MINUTE_MS, 'A playground token expires. The page renews it in time.')

/** What the sums of usage say of the keys of an account. */
type KeyUsage = { readonly used: ReadonlyMap<string, number>; readonly spent: KeySpends }
const NO_USAGE: KeyUsage = { used: new Map(), spent: new Map() }

function keyView({ services }: ConsoleContext, key: ApiKey, { used, spent }: KeyUsage): KeyShape {
  const usedAt = used.get(key.id)
  const spend = spent.get(key.id)
  const account = services.accounts.find(key.accountId)
  const [status] = account ? services.limiter.limitStatuses({ key, account }) : []
  return {
    id: key.id,
    name: key.name,
    key: `sk-tg-…${key.last4}`,
    status: key.revokedAtMs === undefined ? 'active' : 'revoked',
    models: key.allowedModels ? [...key.allowedModels] : null,
    limits: consoleLimitsView(key.limits),
    spent_today_nano_usd: (spend?.day ?? 0n).toString(),
    spent_this_month_nano_usd: (spend?.month ?? 0n).toString(),
    held_nano_usd: (status?.month.held ?? 0n).toString(),
    last_used_at: isoTimeOrNull(usedAt === undefined ? undefined : usedAt * HOUR_MS),
    created_at: isoTime(key.createdAtMs),
    revoked_at: isoTimeOrNull(key.revokedAtMs),
  }
}

/** The books say what was spent, because the limiter of one process counts a key without limits alone. */
async function usageOf({ services: { rollups } }: ConsoleContext, accountId: string): Promise<KeyUsage> {
  const nowMs = Date.now()
  const since = { day: Math.floor(nowMs / DAY_MS), monthDay: monthStartHour(nowMs) / HOURS_PER_DAY }
  const [used, spent] = await Promise.all([
    rollups.lastUsed(accountId, Math.floor(nowMs / HOUR_MS) - LAST_USED_HOURS),
    rollups.spentByKey(accountId, since),
  ])
  return { used, spent }
}

type OneKey = Pick<RouteContext<{ account: string; key: string }>, 'context' | 'params'>

/** Finds a client key of the account in the path. */
function keyIn({ context, params }: OneKey): ApiKey | undefined {
  const key = context.services.accounts.findKey(params.key)
  return key?.accountId === params.account && key.kind === 'client' ? key : undefined
}

async function show(call: OneKey): Promise<RouteReply> {
  const key = keyIn(call)
  if (!key) return missing('key')
  return json(keyView(call.context, key, await usageOf(call.context, key.accountId)))
}

const draft = z.strictObject({
  name: visibleName,
  models: modelIds.optional(),
  limits: limitsChange.optional(),
})
const change = z.strictObject({
  name: visibleName.optional(),
  models: modelIds.nullable().optional(),
  limits: limitsChange.optional(),
})

async function createKey(call: RouteContext<{ account: string }, unknown, z.infer<typeof draft>>): Promise<RouteReply> {
  const { context, params, body } = call
  const input = {
    account: params.account,
    name: body.name,
    ...(body.models === undefined ? {} : { models: body.models }),
  }
  const limits = body.limits === undefined ? {} : { limits: limitsOfBody(body.limits) }
  const result = await call.operate('key.create', { ...input, ...limits })
  return answer<{ id: string; secret: string }>(result, ({ id, secret }) => {
    const key = context.services.accounts.findKey(id)
    return key && { ...keyView(context, key, NO_USAGE), secret }
  })
}

async function changeKey(
  call: RouteContext<{ account: string; key: string }, unknown, z.infer<typeof change>>,
): Promise<RouteReply> {
  const key = keyIn(call)
  if (!key) return missing('key')
  if (key.revokedAtMs !== undefined) return problem(409, 'conflict', sayConsoleRefusal('key_revoked'))
  const { name, models, limits } = call.body
  const named = { ...(name === undefined ? {} : { name }), ...(models === undefined ? {} : { models }) }
  const steps: [string, object][] = [
    ...(Object.keys(named).length === 0 ? [] : [['key.update', named] as [string, object]]),
    ...(limits === undefined ? [] : [['key.limits', { limits: limitsOfBody(limits) }] as [string, object]]),
  ]
  for (const [operation, input] of steps) {
    const result = await call.operate(operation, { key: key.id, ...input })
    if (!result.ok) return answer(result, () => undefined)
  }
  return show(call)
}

const playground = route('POST', '/accounts/{account}/playground-token', {
  access: 'account_play',
  summary: 'Create a token with which the playground calls /v1 for ten minutes, charged to the account.',
  answer: z.strictObject({ token: z.string(), expires_at: time }),
  run: async (call) => {
    const { context, params, principal } = call
    if (principal.kind !== 'user') throw new Error('only a person may play')
    const account = accountIn(call)
    if (account.status === 'suspended') return problem(403, 'account_suspended', sayConsoleRefusal('account_suspended'))
    const untilMs = Date.now() + PASS_MS
    // The token ends with its session and with the rights of that session. An operator who views an account gets none.
    const token = await context.services.accounts.passFor(params.account, { untilMs, holder: rightsIn(principal) })
    return json({ token, expires_at: isoTime(untilMs) })
  },
})

export const keyRoutes: readonly ConsoleRoute[] = [
  route('GET', '/accounts/{account}/keys', {
    access: 'account_read',
    summary: 'List the keys of an account, newest first. Revoked keys come last; their usage remains.',
    query: z.strictObject({
      ...pageQuery,
      q: searchText.meta({ description: 'part of the name or of the id, or the end of the key' }),
      status: z.enum(['active', 'revoked']).optional(),
    }),
    answer: listShapeOf(keyShape),
    run: async ({ context, params, query }) => {
      const isFound = finder(query.q)
      const wanted = ({ id, name, last4, revokedAtMs }: ApiKey): boolean =>
        (query.status === undefined || (query.status === 'active') === (revokedAtMs === undefined)) &&
        isFound([name, `sk-tg-…${last4}`], id)
      const keys = context.services.accounts.keysOf(params.account).filter(wanted)
      const usage = await usageOf(context, params.account)
      return json(
        pageIn(keys, query, (key) => keyView(context, key, usage), {
          order: 'newest',
          isLast: ({ revokedAtMs }) => revokedAtMs !== undefined,
        }),
      )
    },
  }),
  route('POST', '/accounts/{account}/keys', {
    access: 'account_write',
    summary: 'Create a key. Only this answer contains the full key.',
    body: draft,
    answer: newKeyShape,
    run: createKey,
  }),
  route('GET', '/accounts/{account}/keys/{key}', {
    access: 'account_read',
    summary: 'Get one key.',
    answer: keyShape,
    run: show,
  }),
  route('PATCH', '/accounts/{account}/keys/{key}', {
    access: 'account_write',
    summary: 'Change the name, models or limits of a key. Its secret stays.',
    body: change,
    answer: keyShape,
    run: changeKey,
  }),
  route('DELETE', '/accounts/{account}/keys/{key}', {
    access: 'account_write',
    summary: 'Revoke a key at once and for good. Its running requests are cut.',
    answer: keyShape,
    run: async (call) => {
      const key = keyIn(call)
      if (!key) return missing('key')
      const result = await call.operate('key.revoke', { key: key.id })
      return result.ok ? show(call) : answer(result, () => undefined)
    },
  }),
  playground,
]
