/** Thought signatures, which a client sends back unchanged, and the stand-in for a lost one. */
import { dialects, type Dialect, type SealedData } from '../../domain/turn.ts'
import { parseFields, textIn } from '../core/fields.ts'

/** Documented by Google for histories without signatures: its validator accepts this value (2026-11). */
export const SKIP_VALIDATOR = 'skip_thought_signature_validator'

/** `{"tollgate":` in base64. */
const FOREIGN = 'eyJ0b2xsZ2F0ZSI6'

/** Whether a signature is of another dialect's model. */
export const isForeign = (signature: string): boolean => readSignature(signature).origin !== 'gemini'

/** The signature of a part for a client. A signature of another dialect travels in an envelope of the gateway. */
export function writeSignature({ origin, data, form, account }: SealedData): string {
  return origin === 'gemini'
    ? data
    : Buffer.from(JSON.stringify({ tollgate: origin, data, form, account })).toString('base64')
}

/** A signature that a client sent back. `form` says where a signature of Gemini's own stood. */
export function readSignature(signature: string, form?: string): SealedData {
  if (signature.startsWith(FOREIGN)) {
    const {
      tollgate: origin,
      data,
      form: kept,
      account,
    } = parseFields(Buffer.from(signature, 'base64').toString()) ?? {}
    if (isDialect(origin) && typeof data === 'string') {
      return { origin, data, form: textIn(kept), account: textIn(account) }
    }
  }
  return { origin: 'gemini', data: signature, form }
}

const isDialect = (value: unknown): value is Dialect => dialects.some((dialect) => dialect === value)
