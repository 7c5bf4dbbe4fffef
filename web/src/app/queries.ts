/** The cache of API answers. An old answer stays visible while a new one is loaded. */
import { keepPreviousData, MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from '../lib/api.ts'
import { editing } from '../lib/editing.ts'
import { forgetMade } from '../lib/made.ts'
import { forget } from '../lib/started.ts'

let onSignedOut: () => void = () => undefined

/** Called when the API says that the session has ended. */
export function whenSignedOut(action: () => void): void {
  onSignedOut = action
}

/** The public API also answers 401 for an expired token or a low balance. These do not end the session. */
const onError = (error: unknown): void => {
  if (error instanceof ApiError && error.code === 'not_signed_in') onSignedOut()
}

/** The longest time that a form waits for the page behind it to show a change. */
const FOLLOW_MS = 1_000
const waited = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({
    onError,
    // A change may affect more data than the page knows, so all visible data is loaded again.
    onSuccess: (_data, _variables, _result, { meta }) => {
      const shown = queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
      return meta === editing ? Promise.race([shown, waited(FOLLOW_MS)]) : undefined
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      placeholderData: keepPreviousData,
      retry: (failures, error) =>
        failures < 2 && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
    },
  },
})

/** Data that one user has loaded is removed before another user signs in. */
export function forgetEverything(): void {
  queryClient.clear()
  forget(() => true)
  forgetMade()
}
