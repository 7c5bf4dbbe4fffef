/** Reasons of bookings that nobody typed, as they stand in the books. */
import { fill, speakerOf, type LocalizedMessage } from '../lib/primitives/localized-message.ts'

export const ownReasons = {
  opening: 'opening balance',
  code: 'redemption code …{end}',
  code_noted: 'redemption code …{end} ({note})',
} as const
const say = speakerOf(ownReasons)

export const OPENING = ownReasons.opening

/** Of a code that was redeemed: by its end it is told from others. */
export const reasonOfCode = (end: string, note: string): string =>
  fill(note === '' ? ownReasons.code : ownReasons.code_noted, { end, note })

/** What a reason says, as data; undefined where somebody typed it. Such bookings have references of their own. */
export function ownReasonOf(ref: string, reason: string): LocalizedMessage | undefined {
  if (ref.startsWith('opening:')) return reason === OPENING ? say('opening') : undefined
  if (!ref.startsWith('code:')) return undefined
  const [, end, note] = /^redemption code …(\S{4})(?: \((.*)\))?$/s.exec(reason) ?? []
  if (end === undefined) return undefined
  return note === undefined ? say('code', { end }) : say('code_noted', { end, note })
}
