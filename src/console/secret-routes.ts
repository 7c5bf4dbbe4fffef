/**
 * Finds the owner of a secret. The secret is sent in a body, because browsers, proxies and logs keep addresses.
 */
import { z } from 'zod'
import { keyStatus } from '../accounts/management-keys.ts'
import type { AdminServices } from '../admin/operation.ts'
import { json, route, type ConsoleRoute } from './route.ts'

const kinds = ['key', 'management_key', 'code', 'link', 'unknown'] as const

const holderShape = z
  .strictObject({
    kind: z.enum(kinds).meta({ description: 'unknown: not a secret of this gateway, or not visible to the sender' }),
    id: z.string().nullable(),
    name: z.string().nullable().meta({ description: 'name of the key, or note of the code' }),
    status: z.string().nullable(),
    account: z.string().nullable().meta({ description: 'id of the account it belongs to' }),
    account_name: z.string().nullable(),
  })
  .meta({ id: 'SecretHolder' })
type Holder = z.infer<typeof holderShape>

const body = z.strictObject({ secret: z.string().min(1).max(500) })

const unknown: Holder = { kind: 'unknown', id: null, name: null, status: null, account: null, account_name: null }

async function holderOf(services: AdminServices, secret: string): Promise<Holder> {
  const of = (accountId: string | undefined): Pick<Holder, 'account' | 'account_name'> => ({
    account: accountId ?? null,
    account_name: (accountId === undefined ? undefined : services.accounts.find(accountId)?.name) ?? null,
  })
  const key = await services.accounts.keyOfSecret(secret)
  if (key) {
    const status = key.revokedAtMs === undefined ? 'active' : 'revoked'
    return { kind: 'key', id: key.id, name: key.name, status, ...of(key.accountId) }
  }
  const program = await services.managementKeys.keyOfSecret(secret)
  if (program) {
    const status = keyStatus(program, services.users)
    return { kind: 'management_key', id: program.id, name: program.name, status, ...of(program.accountId) }
  }
  const code = await services.codes.codeOfSecret(secret)
  if (code) return { kind: 'code', id: code.id, name: code.note, status: code.state, ...of(code.redeemedBy) }
  const [token] = /setup_\w+/.exec(secret) ?? []
  const link = token === undefined ? undefined : services.users.holderOf(token)
  if (!link) return unknown
  const user = link.kind === 'user' ? link.user : undefined
  return { kind: 'link', id: user?.id ?? null, name: user?.name ?? null, status: 'active', ...of(user?.accountId) }
}

export const secretRoutes: readonly ConsoleRoute[] = [
  route('POST', '/secrets/lookup', {
    access: 'operator_people',
    summary: 'Look up what a secret is and who owns it: an API key, a management key, a code or a one-time link.',
    body,
    answer: holderShape,
    run: async ({ context: { services }, body: { secret } }) => json(await holderOf(services, secret.trim())),
  }),
  route('POST', '/accounts/{account}/secrets/lookup', {
    access: 'account_read',
    summary: 'Look up which API key of an account a secret is.',
    body,
    answer: holderShape,
    run: async ({ context: { services }, params, body: { secret } }) => {
      const holder = await holderOf(services, secret.trim())
      return json(holder.kind === 'key' && holder.account === params.account ? holder : unknown)
    },
  }),
]
