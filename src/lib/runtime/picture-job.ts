/** What the process that decodes pictures is sent, and what it answers. A line of JSON each. */
import type { PictureFormat } from './drawing.ts'
import { MIB } from '../primitives/units.ts'

export type Picture = {
  readonly kind: 'picture'
  readonly format: PictureFormat
  readonly width: number
  readonly height: number
  readonly hasAlpha: boolean
}

export type PictureLook =
  | Picture
  /** More pixels than were allowed; a side that is too long; more to hold at once than a decoder may; or no picture. */
  | { readonly kind: 'too_large' | 'too_long' | 'too_heavy' | 'unreadable' }

/** The pixels of a picture, four bytes each; fewer than it has where it has more than were asked for. */
export type Pixels = {
  readonly kind: 'pixels'
  readonly width: number
  readonly height: number
  readonly fileWidth: number
  readonly fileHeight: number
}

/** The file is at a path, or comes right behind the line. */
type File = { readonly path: string } | { readonly bytes: number }

export type PictureTask =
  | { readonly task: 'look' | 'pixels'; readonly pixelsMax: number }
  /** Whether no pixel lets anything through. */
  | { readonly task: 'opacity' }

export type PictureJob = File & PictureTask

export type PictureResult = PictureLook | Pixels | { readonly kind: 'opacity'; readonly isOpaque: boolean }

/** `bytes`: so many come right behind the line. */
export type PictureAnswer = { readonly said: PictureResult; readonly residentBytes: number; readonly bytes: number }

/** A JPEG has none that is longer, and no vendor takes one. */
export const SIDE_MAX = 65_535
/** What a process has without a picture, and with one that is taken row by row. */
export const ROOM_BYTES = 128 * MIB
/** The process has taken more memory than it may. */
export const EXIT_CODE_OF_MEMORY = 41
