/**
 * Pictures that were made in this tab, by the request that made them. Nothing of them is on the server but the files
 * behind addresses, for an hour: what is here is gone with the tab.
 */
import { useSyncExternalStore } from 'react'

export type Picture = {
  readonly address: string
  /** The ending of its name. */
  readonly type: 'png' | 'jpeg' | 'webp'
  /** Of a file that the gateway keeps for a while. */
  readonly expiresAtMs?: number | undefined
}
export type Made = {
  readonly account: string
  readonly model: string
  readonly requestId: string | null
  readonly pictures: readonly Picture[]
}

/** Pictures; one has a few megabytes. */
const KEPT_MAX = 40
let all: readonly Made[] = []
const listeners = new Set<() => void>()

function put(next: readonly Made[]): void {
  all = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Newest first. */
export const useMade = (): readonly Made[] => useSyncExternalStore(subscribe, () => all)

export function keepMade(made: Made): void {
  let room = KEPT_MAX
  put([made, ...all].filter(({ pictures }) => (room -= pictures.length) >= 0))
}
export const forgetMade = (): void => put([])
