/**
 * Valid, small requests that cause enormous work: by multiplication, by quadratic searches, by unpacking. Each kind is
 * a generator, and test/load/malformed.test.ts sends them.
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
