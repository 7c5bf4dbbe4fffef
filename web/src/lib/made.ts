/**
 * Images that were created in this tab, by their request. The server keeps only the files behind URLs, for an hour. The
 * images here are lost when the tab closes.
 */
import { tabState } from './tab-state.ts'

export type Picture = {
  readonly address: string
  /** The extension of the file name. */
  readonly type: 'png' | 'jpeg' | 'webp'
  /** Set for a file that the gateway keeps for a while. */
  readonly expiresAtMs?: number | undefined
}
export type MadePicture = {
  readonly account: string
  readonly model: string
  readonly requestId: string | null
  readonly pictures: readonly Picture[]
}

/** The maximum number of images. An image has a few megabytes. */
const KEPT_MAX = 40
const all = tabState<readonly MadePicture[]>([])

/** Newest first. */
export const useMade = all.use

export function keepMade(made: MadePicture): void {
  let room = KEPT_MAX
  all.set([made, ...all.get()].filter(({ pictures }) => (room -= pictures.length) >= 0))
}
export const forgetMade = (): void => all.set([])
