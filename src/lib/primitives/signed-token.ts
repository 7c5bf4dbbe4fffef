/** Codes that people type: letters and digits that are not easily confused, in groups of five. */
import { randomBytes } from 'node:crypto'

const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** 100 bits, so that nobody can find a code by trying. */
const LENGTH = 20
const SHAPE = new RegExp(`^[${LETTERS}]+$`)
const GROUP = /.{5}/g

/** `TG-8K2M4-…`, four groups. */
export function makeVoucher(): string {
  const letters = [...randomBytes(LENGTH)].map((byte) => LETTERS[byte & 31]).join('')
  return `TG-${letters.match(GROUP)?.join('-') ?? ''}`
}

/** The code in its original form. Case, dashes, blanks and O for 0 do not matter. Undefined if it cannot be a code. */
export function voucherOf(typed: string): string | undefined {
  const letters = typed
    .toUpperCase()
    .replace(/[\s-]/g, '')
    .replace(/^TG/, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
  if (letters.length !== LENGTH || !SHAPE.test(letters)) return undefined
  return `TG-${letters.match(GROUP)?.join('-') ?? ''}`
}
