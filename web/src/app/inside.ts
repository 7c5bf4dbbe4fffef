/** The entry to the console. Every page needs a session. */
import { redirect } from '@tanstack/react-router'
import type { Account } from '../lib/api-types.gen.ts'
import { api, isStatus, type Page } from '../lib/api.ts'
import { preferences } from '../lib/preferences.ts'
import { sessionQuery } from '../lib/session.ts'
import '../lib/inside-words.ts'
import { queryClient } from './queries.ts'

export async function requireSession(href: string): Promise<void> {
  try {
    await queryClient.ensureQueryData(sessionQuery)
  } catch (error) {
    if (!isStatus(error, 401)) throw error
    redirect({ to: '/sign-in', search: href === '/' ? {} : { next: href }, throw: true })
  }
}

/** The account to open: a user's own. For an operator it is the last one viewed, or the newest. */
export async function goHome(): Promise<void> {
  const { account, user } = await queryClient.ensureQueryData(sessionQuery)
  if (account) redirect({ to: '/a/$account/overview', params: { account: account.id }, replace: true, throw: true })
  if (user.role !== 'operator') throw new Error('This user has no account.')
  const last = preferences().account
  const id = last ?? (await api.get<Page<Account>>('accounts', { limit: 1 })).data[0]?.id
  const target = { replace: true, throw: true } as const
  if (id === undefined) redirect({ ...target, to: '/operator/accounts' })
  else redirect({ ...target, to: '/a/$account/overview', params: { account: id } })
}
