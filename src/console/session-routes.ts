/** Signing in and out, one-time links, and a person's own password and sessions. */
import { z } from 'zod'
import { PASSWORD_CHARS } from '../accounts/password.ts'
import type { Session } from '../accounts/sessions.ts'
import { visibleName } from '../admin/name.ts'
import { networkOf } from '../lib/primitives/network.ts'
import { noCookie, sessionCookie } from './cookie.ts'
import { sayConsoleRefusal } from './refusals.ts'
import {
  json,
  missing,
  problem,
  route,
  type RouteContext,
  type Problem,
  type RouteReply,
  type ConsoleRoute,
} from './route.ts'
import { isoTime, time, wholeOf } from './shapes.ts'
import { me, meView, signed, noteAudit } from './session-view.ts'

const password = z.string().min(PASSWORD_CHARS.min).max(PASSWORD_CHARS.max)

const slowDown = (waitMs: number): Problem =>
  problem(429, 'rate_limit_exceeded', sayConsoleRefusal('too_many_tries'), { retryAfterMs: waitMs })
const BUSY = problem(503, 'service_unavailable', sayConsoleRefusal('sign_in_busy'), { retryAfterMs: 2_000 })

type VerifiedCredentials = { readonly name: string; readonly hash: string }

/**
 * Signs in a person whose password was verified against `hash`. Verifying takes a while, and the password may have been
 * changed or the person disabled meanwhile. So both are checked again in the tick that opens the session. A later
 * change ends the session itself.
 */
async function begin(
  { context, from }: Pick<RouteContext, 'context' | 'from'>,
  { name, hash }: VerifiedCredentials,
): Promise<RouteReply | undefined> {
  const known = context.services.users.passwordOf(name)
  if (known?.hash !== hash) return undefined
  const { user } = known
  const { token, session } = await context.services.sessions.begin(user.id, from)
  return json(await meView(context, user, session), sessionCookie(token, context.facts.isSecure))
}

/**
 * Takes a try to sign in before the work, and gives it back after a success, so that simultaneous tries count too. Each
 * throttle is asked only if the one before admits the try, so an address without tries left takes none from others. If
 * the person is signed in from the same network, tries from elsewhere do not block another sign-in.
 */
async function takeAttempt(
  { context, from }: Pick<RouteContext, 'context' | 'from'>,
  name: string,
): Promise<SignInAttempt> {
  const { addresses, pairs, names } = context.throttles
  const network = networkOf(from.address)
  const [written, pair] = [name.toLowerCase(), `${network} ${name.toLowerCase()}`]
  const user = context.services.users.findNamed(name)
  const isIn = user && context.services.sessions.listOf(user.id).some(({ address }) => networkOf(address) === network)
  return {
    waitMs: (await addresses.take(network)) || (await pairs.take(pair)) || (isIn ? 0 : await names.take(written)),
    async giveBack() {
      await addresses.giveBack(network)
      await pairs.giveBack(pair)
      if (!isIn) await names.giveBack(written)
    },
  }
}
type SignInAttempt = { readonly waitMs: number; giveBack(): Promise<void> }

const signIn = route('POST', '/session', {
  access: 'open',
  summary: 'Sign in. The answer sets the session cookie.',
  body: z.strictObject({ name: z.string().min(1).max(200), password: z.string().min(1).max(PASSWORD_CHARS.max) }),
  answer: me,
  run: async (call) => {
    const { context, body } = call
    const name = body.name.trim()
    const tried = await takeAttempt(call, name)
    if (tried.waitMs > 0) return slowDown(tried.waitMs)
    const known = context.services.users.passwordOf(name)
    const checked = await context.passwords.check(body.password, known?.hash)
    if (checked === 'busy') {
      await tried.giveBack()
      return BUSY
    }
    const opened = checked === 'right' && known ? await begin(call, { name, hash: known.hash }) : undefined
    if (!opened) {
      // The same is noted for known and unknown names. Otherwise the time would reveal which names exist.
      if ((await context.throttles.notes.take('')) === 0) {
        await noteAudit(call, 'session.open', { subject: known?.user.id, outcome: 'wrong_password' })
      }
      return problem(401, 'wrong_password', sayConsoleRefusal('wrong_password'))
    }
    await tried.giveBack()
    await noteAudit(call, 'session.open', { user: known?.user })
    return opened
  },
})

const checkLink = route('POST', '/links/check', {
  access: 'open',
  summary: 'Look up whom a one-time link is for.',
  body: z.strictObject({ token: z.string().min(1).max(200) }),
  answer: z.strictObject({
    name: z.string().nullable().meta({ description: 'null: the link is for the first operator, who chooses a name' }),
    password_chars_min: z.int(),
  }),
  run: async ({ context, body, from }) => {
    const waitMs = await context.throttles.addresses.take(networkOf(from.address))
    if (waitMs > 0) return slowDown(waitMs)
    const holder = context.services.users.holderOf(body.token)
    if (!holder) return VOID_LINK
    await context.throttles.addresses.giveBack(networkOf(from.address))
    return json({
      name: holder.kind === 'first' ? null : holder.user.name,
      password_chars_min: PASSWORD_CHARS.min,
    })
  },
})

const VOID_LINK = problem(410, 'link_void', sayConsoleRefusal('link_void'))

const useLink = route('POST', '/links/redeem', {
  access: 'open',
  summary: 'Choose a password with a one-time link, and sign in.',
  body: z.strictObject({ token: z.string().min(1).max(200), name: visibleName.optional(), password }),
  answer: me,
  run: async (call) => {
    const { context, body, from } = call
    const { users } = context.services
    const network = networkOf(from.address)
    const waitMs = await context.throttles.addresses.take(network)
    if (waitMs > 0) return slowDown(waitMs)
    // Hashing is expensive, so it is done only for a valid link.
    if (!users.holderOf(body.token)) return VOID_LINK
    const hash = await context.passwords.hash(body.password)
    if (hash === undefined) {
      await context.throttles.addresses.giveBack(network)
      return BUSY
    }
    const redeemed = await users.redeem(body.token, { name: body.name, hash })
    switch (redeemed.kind) {
      case 'void':
        return VOID_LINK
      case 'name_needed':
        return problem(400, 'invalid_value', sayConsoleRefusal('name_needed'), { param: 'name' })
      case 'redeemed':
        await context.throttles.addresses.giveBack(network)
        await noteAudit(call, 'link.redeem', { user: redeemed.user })
        return (await begin(call, { name: redeemed.user.name, hash })) ?? VOID_LINK
    }
  },
})

const ended = z.strictObject({ ended: z.int() })

const sessionView = z
  .strictObject({
    id: z.string(),
    address: z.string(),
    agent: z.string(),
    created_at: time,
    seen_at: time,
    current: z.boolean(),
  })
  .meta({ id: 'Session' })

const changePassword = route('POST', '/session/password', {
  access: 'signed_in',
  summary: 'Change your password. All your other sessions end.',
  body: z.strictObject({ current: z.string().min(1).max(PASSWORD_CHARS.max), password }),
  answer: me,
  run: async (call) => {
    const { context, body } = call
    const { user } = signed(call)
    const { users } = context.services
    const { pairs } = context.throttles
    const waitMs = await pairs.take(user.id)
    if (waitMs > 0) return slowDown(waitMs)
    const before = users.passwordOf(user.name)?.hash
    const checked = await context.passwords.check(body.current, before)
    if (checked === 'wrong') return WRONG_CURRENT
    await pairs.giveBack(user.id)
    if (checked === 'busy') return BUSY
    const hash = await context.passwords.hash(body.password)
    if (hash === undefined) return BUSY
    // The verified password must still be current. A one-time link may have replaced it to lock this person out.
    if (users.passwordOf(user.name)?.hash !== before) return WRONG_CURRENT
    await users.setPassword(user.id, hash)
    await noteAudit(call, 'password.change', { user })
    return (await begin(call, { name: user.name, hash })) ?? WRONG_CURRENT
  },
})

const WRONG_CURRENT = problem(403, 'wrong_password', sayConsoleRefusal('wrong_current_password'), { param: 'current' })

const viewAs = route('POST', '/session/view-as', {
  access: 'operator_people',
  summary: 'View an account as a member until you end it. Nothing can be changed meanwhile.',
  body: z.strictObject({ account: z.string() }),
  answer: me,
  run: async (call) => {
    const { context, body } = call
    const { user, session } = signed(call)
    const account = context.services.accounts.find(body.account)
    if (!account) return missing('account')
    await context.services.sessions.lookAs(session, account.id)
    await noteAudit(call, 'session.view_as', { user, subject: account.id })
    return json(await meView(context, user, { ...session, viewAs: account.id }))
  },
})

const endView = route('DELETE', '/session/view-as', {
  access: 'signed_in',
  summary: 'End viewing an account as a member.',
  answer: me,
  run: async (call) => {
    const { user, session } = signed(call)
    if (session.viewAs === undefined) return json(await meView(call.context, user, session))
    await call.context.services.sessions.lookAs(session, undefined)
    await noteAudit(call, 'session.view_as_end', { user, subject: session.viewAs })
    return json(await meView(call.context, user, { ...session, viewAs: undefined }))
  },
})

/** Ends some of the person's sessions. If the current one is among them, the cookie is removed. */
async function end(
  call: Pick<RouteContext, 'context' | 'principal' | 'from'>,
  isMeant: (session: Session) => boolean,
): Promise<RouteReply> {
  const { user, session } = signed(call)
  const { sessions } = call.context.services
  const meant = sessions.listOf(user.id).filter(isMeant)
  await sessions.end(meant)
  await noteAudit(call, 'session.end', { user })
  const isOut = meant.some(({ id }) => id === session.id)
  return json({ ended: meant.length }, isOut ? noCookie(call.context.facts.isSecure) : undefined)
}

export const sessionRoutes: readonly ConsoleRoute[] = [
  signIn,
  checkLink,
  useLink,
  route('GET', '/session', {
    access: 'signed_in',
    summary: 'Get who is signed in, with their role.',
    answer: me,
    run: async (call) => {
      const { user, session } = signed(call)
      return json(await meView(call.context, user, session))
    },
  }),
  route('DELETE', '/session', {
    access: 'signed_in',
    summary: 'Sign out.',
    answer: ended,
    run: (call) => end(call, ({ id }) => id === signed(call).session.id),
  }),
  changePassword,
  viewAs,
  endView,
  route('GET', '/sessions', {
    access: 'signed_in',
    summary: 'List your sessions.',
    answer: wholeOf(sessionView),
    run: (call) => {
      const { user, session: current } = signed(call)
      const data = call.context.services.sessions.listOf(user.id).map(({ id, address, agent, ...session }) => ({
        id,
        address,
        agent,
        created_at: isoTime(session.createdAtMs),
        seen_at: isoTime(session.seenAtMs),
        current: id === current.id,
      }))
      return json({ data })
    },
  }),
  route('DELETE', '/sessions', {
    access: 'signed_in',
    summary: 'Sign out everywhere.',
    answer: ended,
    run: (call) => end(call, () => true),
  }),
  route('DELETE', '/sessions/{session}', {
    access: 'signed_in',
    summary: 'End one of your sessions.',
    answer: ended,
    run: (call) => {
      const isMeant = ({ id }: Session): boolean => id === call.params.session
      const own = call.context.services.sessions.listOf(signed(call).user.id)
      return own.some(isMeant) ? end(call, isMeant) : missing('session')
    },
  }),
]
