/** Who is signed in, and what they may do here. */
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import type { Me } from './api-types.gen.ts'
import { api } from './api.ts'
import { MINUTE_MS } from './units.ts'

export type Role = Me['user']['role']

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => api.get<Me>('session'),
  staleTime: MINUTE_MS,
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
