/** A form that is sent once at a time, and the answer of the API. */
import { useState, type SyntheticEvent } from 'react'
import { ApiError } from '../../lib/api.ts'

export type Sending = {
  readonly isBusy: boolean
  readonly error: ApiError | undefined
  readonly submit: (event: SyntheticEvent) => void
}

export function useForm(send: () => Promise<void>): Sending {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const run = async (): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      await send()
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return {
    isBusy,
    error,
    submit: (event) => {
      event.preventDefault()
      void run()
    },
  }
}
