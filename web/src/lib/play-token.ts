/** Tokens of the playground for the public API. They are valid for minutes and end with the session. */
import { useRef } from 'react'
import type { Answers } from './api-types.gen.ts'
import { api, path } from './api.ts'
import type { TokenSource } from './gateway.ts'
import { MINUTE_MS } from './units.ts'

type Token = Answers['POST /accounts/{account}/playground-token']
const SPARE_MS = MINUTE_MS

/** Returns a token that is valid for at least another minute and is not `gone`. It is kept in memory only. */
export function useToken(account: string): TokenSource {
  const known = useRef<{ readonly account: string; readonly token: Promise<Token> }>(undefined)
  return async (gone) => {
    const kept = known.current
    // A token of another account would spend that account's money.
    const before = kept?.account === account ? await kept.token.catch(() => undefined) : undefined
    const isGood = before && before.token !== gone && Date.parse(before.expires_at) - Date.now() >= SPARE_MS
    if (isGood) return before.token
    const token = api.post<Token>(path`accounts/${account}/playground-token`)
    known.current = { account, token }
    return (await token).token
  }
}
