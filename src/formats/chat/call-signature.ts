/**
 * The signature of the reasoning before a tool call. The chat format has no place for it. Gemini, the vendor that needs
 * it back, has made one in its own endpoint of this format: `extra_content.google.thought_signature` beside the call
 * (2026-11). SDKs send unknown fields of a message back unchanged.
 */
import type { SealedData } from '../../domain/turn.ts'
import { asFields, textIn, type Fields } from '../core/fields.ts'

export const writeCallSignature = (sealed: SealedData | undefined): object =>
  sealed?.origin === 'gemini' ? { extra_content: { google: { thought_signature: sealed.data } } } : {}

export function readCallSignature(call: Fields): SealedData | undefined {
  const data = textIn(asFields(asFields(call['extra_content'])['google'])['thought_signature'])
  return data === undefined ? undefined : { origin: 'gemini', data }
}
