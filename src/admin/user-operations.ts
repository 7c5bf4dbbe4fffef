/** People who sign in to the console: invitations, roles, disabling, and new set-up links. */
import { z } from 'zod'
import { setupPath } from '../accounts/users.ts'
import { userRoles, type User } from '../domain/user.ts'
import { visibleName } from './name.ts'
import { sayRefusal } from './refusals.ts'
import {
  conflict,
  done,
  notFound,
  operation,
  refused,
  type AdminServices,
  type Operation,
  type Result,
} from './operation.ts'

const userView = ({ accounts }: AdminServices, user: User): object => ({
  id: user.id,
  name: user.name,
  role: user.role,
  account: user.accountId ?? null,
  account_name: (user.accountId && accounts.find(user.accountId)?.name) ?? null,
  status: user.status,
  created_at: new Date(user.createdAtMs).toISOString(),
})

async function withUser(
  { users }: AdminServices,
  reference: string,
  use: (user: User) => Result | Promise<Result>,
): Promise<Result> {
  const user = users.findNamed(reference)
  return user ? use(user) : notFound('user', reference)
}

/** The last operator must not be disabled or demoted, or nobody could manage the gateway. */
const isLastOperator = ({ users }: AdminServices, { id }: User): boolean =>
  !users.list().some((other) => other.id !== id && other.role === 'operator' && other.status === 'active')

const linkOf = async (services: AdminServices, user: User): Promise<Result> =>
  done({ ...userView(services, user), setup_path: setupPath(await services.users.makeLink(user.id)) })

const reference = z.string().min(1)
const subject = ({ user }: { user: string }): string => user

export const userOperations: Readonly<Record<string, Operation>> = {
  'user.create': operation(
    z.strictObject({ name: visibleName, role: z.enum(userRoles), account: reference.optional() }),
    async (services, { name, role, account: wanted }) => {
      if ((role === 'operator') !== (wanted === undefined)) {
        return refused('invalid_input', sayRefusal('user_account'))
      }
      const account = wanted === undefined ? undefined : services.accounts.find(wanted)
      if (wanted !== undefined && !account) return notFound('account', wanted)
      const user = await services.users.create({ name, role, accountId: account?.id })
      return user ? linkOf(services, user) : conflict(sayRefusal('user_taken', { name }))
    },
    { subject: ({ name }) => name },
  ),
  'user.list': operation(z.strictObject({}), (services) =>
    done(services.users.list().map((user) => userView(services, user))),
  ),
  'user.reset': operation(
    z.strictObject({ user: reference }),
    (services, { user: wanted }) =>
      withUser(services, wanted, (user) =>
        user.status === 'disabled'
          ? conflict(sayRefusal('user_disabled', { name: user.name }))
          : linkOf(services, user),
      ),
    { subject },
  ),
  'user.role': operation(
    z.strictObject({ user: reference, role: z.enum(['owner', 'member']) }),
    (services, { user: wanted, role }) =>
      withUser(services, wanted, async (user) => {
        if (user.role === 'operator') return conflict(sayRefusal('operator_role'))
        return done(userView(services, await services.users.update(user.id, { role })))
      }),
    { subject },
  ),
  'user.disable': operation(
    z.strictObject({ user: reference }),
    (services, { user: wanted }) =>
      withUser(services, wanted, async (user) => {
        if (user.role === 'operator' && isLastOperator(services, user)) {
          return conflict(sayRefusal('last_operator'))
        }
        return done(userView(services, await services.users.update(user.id, { status: 'disabled' })))
      }),
    { subject },
  ),
  'user.enable': operation(
    z.strictObject({ user: reference }),
    (services, { user: wanted }) =>
      withUser(services, wanted, async (user) =>
        done(userView(services, await services.users.update(user.id, { status: 'active' }))),
      ),
    { subject },
  ),
}

/** Keys for programs that manage the gateway. */
export const managementKeyOperations: Readonly<Record<string, Operation>> = {
  'management_key.create': operation(
    z.strictObject({ name: visibleName, account: reference.optional() }),
    async ({ accounts, managementKeys }, { name, account: wanted }, actor) => {
      const account = wanted === undefined ? undefined : accounts.find(wanted)
      if (wanted !== undefined && !account) return notFound('account', wanted)
      const createdBy = actor.kind === 'user' ? actor.id : undefined
      const { key, secret } = await managementKeys.create({ name, accountId: account?.id, createdBy })
      return done({ id: key.id, name, account: account?.name ?? null, made_by: actor.kind, secret })
    },
    {
      subject: ({ name }) => name,
      made: (value) => {
        const { secret: _, ...kept } = value as { readonly secret: string }
        return kept
      },
    },
  ),
  'management_key.revoke': operation(
    z.strictObject({ key: reference }),
    async ({ managementKeys }, { key }) => {
      const revoked = await managementKeys.revoke(key)
      return revoked ? done({ id: revoked.id, name: revoked.name }) : notFound('management key', key)
    },
    { subject: ({ key }) => key },
  ),
}
