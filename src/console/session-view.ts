/** The signed-in person, as the console shows them and as the audit log records them. */
import { z } from 'zod'
import type { Session } from '../accounts/sessions.ts'
import { userRoles, type User } from '../domain/user.ts'
import type { ConsoleContext } from './context.ts'
import { lowBalanceOf, lowBalanceShape } from './low-balance.ts'
import type { RouteContext } from './route.ts'
import { isoTime, time } from './shapes.ts'

export const me = z
  .strictObject({
    user: z.strictObject({ id: z.string(), name: z.string(), role: z.enum(userRoles) }),
    account: z
      .strictObject({ id: z.string(), name: z.string(), low_balance: lowBalanceShape.nullable() })
      .nullable()
      .meta({
        description:
          'the account whose pages are shown: the person’s own, or the one that an operator views; null for an operator',
      }),
    view_as: z.boolean().meta({ description: 'an operator views this account as a member, and can change nothing' }),
    session: z.strictObject({ id: z.string(), created_at: time }),
    version: z.string(),
    public_url: z.string().nullable(),
  })
  .meta({ id: 'Me' })

export async function meView(
  context: ConsoleContext,
  user: User,
  { id, viewAs, createdAtMs }: Session,
): Promise<z.infer<typeof me>> {
  const { services, facts } = context
  const account = services.accounts.find(viewAs ?? user.accountId ?? '')
  return {
    user: { id: user.id, name: user.name, role: user.role },
    account: account ? { id: account.id, name: account.name, low_balance: await lowBalanceOf(context, account) } : null,
    view_as: viewAs !== undefined,
    session: { id, created_at: isoTime(createdAtMs) },
    version: facts.version,
    public_url: facts.publicUrl ?? null,
  }
}

type SignIn = { readonly user: User; readonly session: Session }

/** The sign-in of a route that only signed-in people reach. */
export function signed({ principal }: Pick<RouteContext, 'principal'>): SignIn {
  if (principal.kind !== 'user') throw new Error('this route is for people who are signed in')
  return principal
}

/** Writes an audit entry for an action that is no operation, because only people do it. */
export async function noteAudit(
  { context, from }: Pick<RouteContext, 'context' | 'from'>,
  action: string,
  who: AuditNote,
): Promise<void> {
  const { audit } = context.services
  const { address, requestId } = from
  const actor =
    who.user === undefined
      ? ({ kind: 'nobody', address, requestId } as const)
      : ({ kind: 'user', id: who.user.id, name: who.user.name, address, requestId } as const)
  const id = await audit.begin({ actor, action, subject: who.subject ?? who.user?.id, input: {} })
  await audit.end(id, { action, outcome: who.outcome ?? 'done' })
}
type AuditNote = { readonly user?: User | undefined; readonly subject?: string | undefined; readonly outcome?: string }
