/**
 * Requests that are valid, small, and ask for enormous work: what multiplies, what is searched for in quadratic time,
 * what unpacks. A modality is a generator; each is sent by test/load/malformed.test.ts.
 */
import type fc from 'fast-check'
import type { Bomb } from './bomb.ts'
import { knownPictureBombs, pictureBombsLike } from './picture-bombs.ts'
import { knownTextBombs, textBombs } from './text-bombs.ts'

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
