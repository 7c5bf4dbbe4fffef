/** Answers of the API as long as they are fresh. What was shown stays while it is asked for again. */
import { keepPreviousData, MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from '../lib/api.ts'
import { editing } from '../lib/editing.ts'
import { forgetMade } from '../lib/made.ts'
import { forget } from '../lib/started.ts'

let onSignedOut: () => void = () => undefined

/** What to do when the API says that nobody is signed in any more. */
export function whenSignedOut(action: () => void): void {
  onSignedOut = action
}

/** The public API says 401 too, of a token that is void or of a balance that is too small: nobody is out for that. */
const onError = (error: unknown): void => {
  if (error instanceof ApiError && error.code === 'not_signed_in') onSignedOut()
}

/** As long as a form waits at most for the page behind it to show what was changed. */
const FOLLOW_MS = 1_000
const waited = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({
    onError,
    // Whatever was changed, more may follow from it than the page knows: what is shown is asked for again.
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

/** What somebody has seen is not for whoever comes after them. */
export function forgetEverything(): void {
  queryClient.clear()
  forget(() => true)
  forgetMade()
}
