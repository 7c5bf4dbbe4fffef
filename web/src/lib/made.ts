/**
 * Pictures that were made in this tab, by the request that made them. Nothing of them is on the server but the files
 * behind addresses, for an hour: what is here is gone with the tab.
 */
import { tabState } from './tab-state.ts'

export type Picture = {
  readonly address: string
  /** The ending of its name. */
  readonly type: 'png' | 'jpeg' | 'webp'
  /** Of a file that the gateway keeps for a while. */
  readonly expiresAtMs?: number | undefined
}
export type MadePicture = {
  readonly account: string
  readonly model: string
  readonly requestId: string | null
  readonly pictures: readonly Picture[]
}

/** Pictures; one has a few megabytes. */
const KEPT_MAX = 40
const all = tabState<readonly MadePicture[]>([])

/** Newest first. */
export const useMade = all.use

export function keepMade(made: MadePicture): void {
  let room = KEPT_MAX
  all.set([made, ...all.get()].filter(({ pictures }) => (room -= pictures.length) >= 0))
}
export const forgetMade = (): void => all.set([])
