/** The signed-in user and their permissions. */
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

/** Whether the user may change the account. Members, and operators who view an account, may not. */
export function useCanWrite(): boolean {
  const { user, view_as: isViewing } = useMe()
  return !isViewing && user.role !== 'member'
}

export const isOperator = ({ user, view_as: isViewing }: Me): boolean => user.role === 'operator' && !isViewing

/** The base URL for clients of this gateway. */
export const clientBaseUrl = ({ public_url: publicUrl }: Me): string =>
  publicUrl === null ? new URL('../v1', document.baseURI).href : `${publicUrl}/v1`
