/** The playground calls the public API by a token of a few minutes, which ends with the session it was asked for in. */
import { useRef } from 'react'
import { api, path } from './api.ts'
import type { TokenSource } from './gateway.ts'

type Token = { readonly token: string; readonly expires_at: string }
const SPARE_MS = 60_000

/** Gives a token that is good for another minute at least, and another one than `gone`. It is kept in memory alone. */
export function useToken(account: string): TokenSource {
  const known = useRef<Promise<Token>>(undefined)
  const ask = (): Promise<Token> => api.post<Token>(path`accounts/${account}/playground-token`)
  return async (gone) => {
    const before = await known.current?.catch(() => undefined)
    if (!before || before.token === gone || Date.parse(before.expires_at) - Date.now() < SPARE_MS) known.current = ask()
    return (await known.current)?.token ?? ''
  }
}
