/** The messages to a process that decodes pictures, and its answers. Each is one line of JSON. */
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
  /** Too many pixels, a side that is too long, more memory than a decoder may use, or no picture. */
  | { readonly kind: 'too_large' | 'too_long' | 'too_heavy' | 'unreadable' }

/** The pixels of a picture, four bytes each. A picture with more pixels than requested is scaled down. */
export type Pixels = {
  readonly kind: 'pixels'
  readonly width: number
  readonly height: number
  readonly fileWidth: number
  readonly fileHeight: number
}

/** The file is at a path, or its bytes follow the line. */
type File = { readonly path: string } | { readonly bytes: number }

export type PictureTask =
  | { readonly task: 'look' | 'pixels'; readonly pixelsMax: number }
  /** Whether every pixel is opaque. */
  | { readonly task: 'opacity' }

export type PictureJob = File & PictureTask

export type PictureResult = PictureLook | Pixels | { readonly kind: 'opacity'; readonly isOpaque: boolean }

/** `bytes`: the number of bytes that follow the line. */
export type PictureAnswer = { readonly said: PictureResult; readonly residentBytes: number; readonly bytes: number }

/** No side of a JPEG is longer, and no vendor accepts a longer one. */
export const SIDE_MAX = 65_535
/** The memory of a process without a picture, or with one that is decoded row by row. */
export const ROOM_BYTES = 128 * MIB
/** The exit code of a process that used too much memory. */
export const EXIT_CODE_OF_MEMORY = 41
