/** Removes from a failure what repeats the credential, the request or the answer. */
import type { KeptSecrets } from '../domain/catalog.ts'
import type { UpstreamFailure } from '../domain/failure.ts'
import { keptWords, type KeptWordsOptions } from './kept-words.ts'

/** A shorter word that a credential has too says nothing about it. */
const PART_OF_SECRET_CHARS = 8

/** Whether a word repeats a credential or a long part of it. A short credential is only compared whole. */
export function repeatsSecret(word: string, secret: KeptSecrets = ''): boolean {
  if (typeof secret !== 'string') return secret.some((one) => repeatsSecret(word, one))
  if (secret.length < PART_OF_SECRET_CHARS) return word === secret
  return word.includes(secret) || (word.length >= PART_OF_SECRET_CHARS && secret.includes(word))
}

/** A text with each whole credential in it replaced. A short one protects nothing, and would match ordinary words. */
export function withoutSecrets(text: string, secrets: KeptSecrets = []): string {
  let left = text
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets)
    if (secret.length >= PART_OF_SECRET_CHARS) left = left.replaceAll(secret, '[redacted]')
  return left
}

export type RedactionOptions = KeptWordsOptions & {
  /** Whether the operator keeps the messages of vendors. */
  readonly keepsMessages: boolean
}

/**
 * A failure that a client may see and a record may keep. A code, a type or an id goes if it repeats the credential or
 * is a word of the request, and the name of a field if it repeats the credential. The message can quote both, so
 * `keptMessage` has the part of it that may be kept.
 */
export function redactFailure(
  { code, type, requestId, param, ...failure }: UpstreamFailure,
  { keepsMessages, ...options }: RedactionOptions,
): UpstreamFailure {
  const { secret, texts } = options
  const { evidence, isQuoted, message } = failure
  const isKept = (word: string | undefined): word is string =>
    word !== undefined && !repeatsSecret(word, secret) && !texts.isWord(word)
  const keptMessage = isQuoted && keepsMessages ? keptWords(message, options) : undefined
  return {
    ...failure,
    ...(keptMessage === undefined ? {} : { keptMessage }),
    // The words that decided may be the client's own, quoted by the vendor.
    ...(evidence !== undefined && texts.has(evidence) ? { isDoubtful: true } : {}),
    ...(isKept(code) ? { code } : {}),
    ...(isKept(type) ? { type } : {}),
    ...(isKept(requestId) ? { requestId } : {}),
    ...(param === undefined || repeatsSecret(param, secret) ? {} : { param }),
  }
}

export type VendorErrorDetails = {
  readonly status?: number
  readonly code?: string
  readonly type?: string
  readonly message?: string
  readonly requestId?: string
}

const OWN_MESSAGE_CHARS_MAX = 200

/**
 * What a record keeps of a failure: the status, code, type and id of the upstream, and a message. The message is the
 * part of the upstream's that may be kept, or the gateway's own where nothing of an answer is in it.
 */
export function keptOf(failure: UpstreamFailure): VendorErrorDetails {
  const { kind, isQuoted, keptMessage, message, status, code, type, requestId } = failure
  const isOurs = !isQuoted && ((status === undefined && code === undefined) || kind === 'garbage')
  const kept = isOurs ? message.slice(0, OWN_MESSAGE_CHARS_MAX) : keptMessage
  return {
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    ...(type === undefined ? {} : { type }),
    ...(kept === undefined ? {} : { message: kept }),
    ...(requestId === undefined ? {} : { requestId }),
  }
}
