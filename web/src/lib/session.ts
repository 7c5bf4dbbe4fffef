/** Who is signed in, and what they may do here. */
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { api } from './api.ts'

export type Role = 'operator' | 'owner' | 'member'
export type LowBalance = {
  readonly threshold_nano_usd: string
  readonly available_nano_usd: string
  /** At the pace of the last week; null: nothing was spent. */
  readonly days_left: number | null
}
export type Me = {
  readonly user: { readonly id: string; readonly name: string; readonly role: Role }
  readonly account: {
    readonly id: string
    readonly name: string
    /** null: enough is available. */
    readonly low_balance: LowBalance | null
  } | null
  readonly view_as: boolean
  readonly session: { readonly id: string; readonly created_at: string }
  readonly version: string
  readonly public_url: string | null
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => api.get<Me>('session'),
  staleTime: 60_000,
})

export const useMe = (): Me => useSuspenseQuery(sessionQuery).data

/** Whether an account can be changed by whoever is signed in: members and an operator who views one only look. */
export function useCanWrite(): boolean {
  const { user, view_as: isViewing } = useMe()
  return !isViewing && user.role !== 'member'
}

export const isOperator = ({ user, view_as: isViewing }: Me): boolean => user.role === 'operator' && !isViewing

/** Where clients of this gateway send their requests. */
export const clientBaseUrl = ({ public_url: publicUrl }: Me): string =>
  publicUrl === null ? new URL('../v1', document.baseURI).href : `${publicUrl}/v1`
