/** Users and management keys, of one account or of all. */
import { z } from 'zod'
import { keyStatus, keyStatuses, type ManagementKey } from '../accounts/management-keys.ts'
import type { AdminServices } from '../admin/operation.ts'
import { visibleName } from '../admin/name.ts'
import { userRoles, type User } from '../domain/user.ts'
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
import { finder, isoTime, isoTimeOrNull, listShapeOf, pageIn, pageQuery, searchText, time } from './shapes.ts'

const userShape = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    role: z.enum(userRoles),
    account: z.string().nullable(),
    account_name: z.string().nullable(),
    status: z.enum(['invited', 'active', 'disabled']).meta({ description: 'invited: no password has been chosen yet' }),
    created_at: time,
  })
  .meta({ id: 'User' })
const linkShape = userShape
  .extend({
    setup_path: z.string().meta({ description: 'one-time link, below the public address; shown only once' }),
  })
  .meta({ id: 'InvitedUser' })

const viewOf = ({ context }: Pick<RouteContext, 'context'>, user: User): z.infer<typeof userShape> => ({
  id: user.id,
  name: user.name,
  role: user.role,
  account: user.accountId ?? null,
  account_name: (user.accountId && context.services.accounts.find(user.accountId)?.name) ?? null,
  status: user.status,
  created_at: isoTime(user.createdAtMs),
})

const asItIs = (value: unknown): unknown => value

/** Finds a user of the account in the path, or any user if the path has no account. */
function userIn({ context, params }: RouteContext<{ account?: string; user: string }>): User | undefined {
  const user = context.services.users.find(params.user)
  return user && (params.account === undefined || user.accountId === params.account) ? user : undefined
}

const change = z.strictObject({
  role: z.enum(['owner', 'member']).optional(),
  status: z.enum(['active', 'disabled']).optional(),
})

async function changeUser(
  call: RouteContext<{ account?: string; user: string }, unknown, z.infer<typeof change>>,
): Promise<RouteReply> {
  const user = userIn(call)
  if (!user) return missing('user')
  const { role, status } = call.body
  const isSelf = call.principal.kind === 'user' && call.principal.user.id === user.id
  if (isSelf) return problem(409, 'conflict', sayConsoleRefusal('own_role'))
  if (role !== undefined && role !== user.role) {
    const changed = await call.operate('user.role', { user: user.id, role })
    if (!changed.ok) return answer(changed, asItIs)
  }
  if (status !== undefined) {
    const changed = await call.operate(status === 'active' ? 'user.enable' : 'user.disable', { user: user.id })
    if (!changed.ok) return answer(changed, asItIs)
  }
  return json(viewOf(call, call.context.services.users.find(user.id) ?? user))
}

async function resetUser(call: RouteContext<{ account?: string; user: string }>): Promise<RouteReply> {
  const user = userIn(call)
  return user ? answer(await call.operate('user.reset', { user: user.id }), asItIs) : missing('user')
}

const listQuery = z.strictObject({
  ...pageQuery,
  q: searchText.meta({ description: 'part of the name or of the id' }),
})

/** A page of the users that match the query, newest first. */
function usersIn(
  call: Pick<RouteContext, 'context'>,
  users: readonly User[],
  query: z.infer<typeof listQuery>,
): RouteReply {
  const isFound = finder(query.q)
  const { accounts } = call.context.services
  const fitting = users.filter(({ id, name, accountId }) =>
    isFound([name, accountId === undefined ? undefined : accounts.find(accountId)?.name], id),
  )
  return json(pageIn(fitting, query, (user) => viewOf(call, user), { order: 'newest' }))
}

const users: readonly ConsoleRoute[] = [
  route('GET', '/users', {
    access: 'operator_people',
    summary: 'List all users, newest first.',
    query: listQuery,
    answer: listShapeOf(userShape),
    run: (call) => usersIn(call, call.context.services.users.list(), call.query),
  }),
  route('POST', '/users', {
    access: 'operator_people',
    summary: 'Invite an operator, or a person to an account.',
    body: z.strictObject({ name: visibleName, role: z.enum(userRoles), account: z.string().optional() }),
    answer: linkShape,
    run: async ({ operate, body }) => answer(await operate('user.create', body), asItIs),
  }),
  route('PATCH', '/users/{user}', {
    access: 'operator_people',
    summary: 'Change the role of a user, or disable the user.',
    body: change,
    answer: userShape,
    run: changeUser,
  }),
  route('POST', '/users/{user}/reset', {
    access: 'operator_people',
    summary: 'Create a one-time link for choosing a new password. The old password works until the link is used.',
    answer: linkShape,
    run: resetUser,
  }),
  route('GET', '/accounts/{account}/users', {
    access: 'account_people',
    summary: 'List the users of an account, newest first.',
    query: listQuery,
    answer: listShapeOf(userShape),
    run: (call) => {
      const own = call.context.services.users.list().filter(({ accountId }) => accountId === call.params.account)
      return usersIn(call, own, call.query)
    },
  }),
  route('POST', '/accounts/{account}/users', {
    access: 'account_people',
    summary: 'Invite a person to an account.',
    body: z.strictObject({ name: visibleName, role: z.enum(['owner', 'member']) }),
    answer: linkShape,
    run: async ({ operate, body, params: { account } }) =>
      answer(await operate('user.create', { ...body, account }), asItIs),
  }),
  route('PATCH', '/accounts/{account}/users/{user}', {
    access: 'account_people',
    summary: 'Change the role of a user of an account, or disable the user.',
    body: change,
    answer: userShape,
    run: changeUser,
  }),
  route('POST', '/accounts/{account}/users/{user}/reset', {
    access: 'account_people',
    summary: 'Create a one-time link for choosing a new password.',
    answer: linkShape,
    run: resetUser,
  }),
]

const keyShape = z
  .strictObject({
    id: z.string(),
    account: z.string().nullable().meta({ description: 'null: it has the rights of an operator' }),
    name: z.string(),
    key: z.string().meta({ description: 'the end of the key; the rest is masked' }),
    status: z.enum(keyStatuses).meta({ description: 'suspended: its creator is disabled or has lost the role for it' }),
    created_by: z
      .strictObject({ id: z.string(), name: z.string() })
      .nullable()
      .meta({ description: 'null: a command created it' }),
    created_at: time,
    revoked_at: time.nullable(),
  })
  .meta({ id: 'ManagementKey' })
const newKeyShape = keyShape
  .extend({ secret: z.string().meta({ description: 'shown only once' }) })
  .meta({ id: 'NewManagementKey' })

const keyView = ({ users }: AdminServices, key: ManagementKey): z.infer<typeof keyShape> => ({
  id: key.id,
  account: key.accountId ?? null,
  name: key.name,
  key: `mk-tg-…${key.last4}`,
  status: keyStatus(key, users),
  created_by:
    key.createdBy === undefined ? null : { id: key.createdBy, name: users.find(key.createdBy)?.name ?? key.createdBy },
  created_at: isoTime(key.createdAtMs),
  revoked_at: isoTimeOrNull(key.revokedAtMs),
})

type KeysCall = RouteContext<{ account?: string }, z.infer<typeof listQuery>>

function listKeys({ context: { services }, params, query }: KeysCall): RouteReply {
  const isFound = finder(query.q)
  const fitting = services.managementKeys
    .listOf(params.account)
    .filter(({ id, name, last4 }) => isFound([name, `mk-tg-…${last4}`], id))
  return json(
    pageIn(fitting, query, (key) => keyView(services, key), {
      order: 'newest',
      isLast: ({ revokedAtMs }) => revokedAtMs !== undefined,
    }),
  )
}

const draft = z.strictObject({ name: visibleName })

async function createKey(
  call: RouteContext<{ account?: string }, unknown, z.infer<typeof draft>>,
): Promise<RouteReply> {
  const { account } = call.params
  const { services } = call.context
  return answer<{ id: string; secret: string }>(
    await call.operate('management_key.create', {
      name: call.body.name,
      ...(account === undefined ? {} : { account }),
    }),
    ({ id, secret }) => {
      const key = services.managementKeys.find(id)
      return key && { ...keyView(services, key), secret }
    },
  )
}

async function revokeKey(call: RouteContext<{ account?: string; key: string }>): Promise<RouteReply> {
  const { services } = call.context
  const key = services.managementKeys.find(call.params.key)
  if (!key || key.accountId !== call.params.account) return missing('management key')
  return answer(await call.operate('management_key.revoke', { key: key.id }), () =>
    keyView(services, services.managementKeys.find(key.id) ?? key),
  )
}

const managementKeys: readonly ConsoleRoute[] = (
  [
    ['/management-keys', 'operator_people', 'for the whole gateway'],
    ['/accounts/{account}/management-keys', 'account_people', 'for one account'],
  ] as const
).flatMap(([path, access, what]) => [
  route('GET', path, {
    access,
    summary: `List management keys ${what}, newest first. Revoked keys come last.`,
    query: listQuery,
    answer: listShapeOf(keyShape),
    run: listKeys,
  }),
  route('POST', path, {
    access,
    summary: `Create a management key ${what}.`,
    body: draft,
    answer: newKeyShape,
    run: createKey,
  }),
  route('DELETE', `${path}/{key}`, {
    access,
    summary: 'Revoke a management key at once.',
    answer: keyShape,
    run: revokeKey,
  }),
])

export const userRoutes = [...users, ...managementKeys]
