/** Reasons of bookings that the gateway makes itself. Their texts are stored in the books. */
import { fill, speakerOf, type LocalizedMessage } from '../lib/primitives/localized-message.ts'

export const ownReasons = {
  opening: 'opening balance',
  code: 'redemption code …{end}',
  code_noted: 'redemption code …{end} ({note})',
} as const
const say = speakerOf(ownReasons)

export const OPENING = ownReasons.opening

/** The reason for a redeemed code. The end of the code identifies it. */
export const reasonOfCode = (end: string, note: string): string =>
  fill(note === '' ? ownReasons.code : ownReasons.code_noted, { end, note })

/**
 * The reason of our own booking as data, or undefined if a person typed it. Such bookings have their own references.
 */
export function ownReasonOf(ref: string, reason: string): LocalizedMessage | undefined {
  if (ref.startsWith('opening:')) return reason === OPENING ? say('opening') : undefined
  if (!ref.startsWith('code:')) return undefined
  const [, end, note] = /^redemption code …(\S{4})(?: \((.*)\))?$/s.exec(reason) ?? []
  if (end === undefined) return undefined
  return note === undefined ? say('code', { end }) : say('code_noted', { end, note })
}
