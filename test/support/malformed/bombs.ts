/**
 * Requests that are valid, small, and ask for enormous work: what multiplies, what is searched for in quadratic time,
 * what unpacks. A modality is a generator; each is sent by test/malformed.test.ts.
 */
import type fc from 'fast-check'
import { knownPictureBombs, pictureBombsLike } from './picture-bombs.ts'
import { knownTextBombs, textBombs } from './text-bombs.ts'

export type Bomb = {
  /** For the report of a failure. */
  readonly name: string
  /** Below the gateway's origin. */
  readonly path: string
  /** JSON. */
  readonly body: object
}

export type Modality = {
  /** Those that went off once. */
  readonly known: readonly Bomb[]
  /** Their like. */
  readonly generated: fc.Arbitrary<Bomb>
}

export const bombs: Readonly<Record<string, Modality>> = {
  text: { known: knownTextBombs, generated: textBombs },
  pictures: { known: knownPictureBombs, generated: pictureBombsLike },
}
