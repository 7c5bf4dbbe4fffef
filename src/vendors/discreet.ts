/** What of a failure may be told and kept: nothing of the credential, the request and the answer. */
import type { UpstreamFailure } from '../domain/failure.ts'
import { keptWords, type KeptWordsOptions } from './kept-words.ts'

/** A shorter word in common with a credential says nothing. */
const PART_OF_SECRET_CHARS = 8

/** Whether a word repeats a credential, or a long part of it. A short one would be found in ordinary words. */
export function tellsSecret(word: string, secret = ''): boolean {
  if (secret.length < PART_OF_SECRET_CHARS) return word === secret
  return word.includes(secret) || (word.length >= PART_OF_SECRET_CHARS && secret.includes(word))
}

export type DiscreetOptions = KeptWordsOptions & {
  /** Whether the operator wants to read what vendors say. */
  readonly keepsMessages: boolean
}

/**
 * A failure as it may be told and kept: without a code, a type, an id or a field's name that repeats the credential or
 * a long part of it, and without those that are a word of the request. All look like what a vendor would send. What is
 * kept of its message is beside it: the message itself may quote both.
 */
export function discreet(
  { code, type, requestId, param, ...failure }: UpstreamFailure,
  { keepsMessages, ...options }: DiscreetOptions,
): UpstreamFailure {
  const { secret, texts } = options
  const { evidence, isQuoted, message } = failure
  const isKept = (word: string | undefined): word is string =>
    word !== undefined && !tellsSecret(word, secret) && !texts.isWord(word)
  const keptMessage = isQuoted && keepsMessages ? keptWords(message, options) : undefined
  return {
    ...failure,
    ...(keptMessage === undefined ? {} : { keptMessage }),
    // Where the request cannot be looked through, it may have said so itself.
    ...(evidence !== undefined && texts.has(evidence) ? { isDoubtful: true } : {}),
    ...(isKept(code) ? { code } : {}),
    ...(isKept(type) ? { type } : {}),
    ...(isKept(requestId) ? { requestId } : {}),
    ...(param === undefined || tellsSecret(param, secret) ? {} : { param }),
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
 * What a record keeps of a failure: an upstream's status, code, type and id, what may be kept of its message, and words
 * of ours that nothing of its answer is in. What is wrong with an answer is said by us, whatever its status.
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
