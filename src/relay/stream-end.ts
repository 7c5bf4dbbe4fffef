/** The end of a stream: complete, cut at its limit, or broken; and the message to its client. */
import { failureForClient } from '../domain/failure-policy.ts'
import type { Failure, UpstreamFailure } from '../domain/failure.ts'
import type { Usage } from '../domain/usage.ts'
import type { AdaptedStream, ReadEvent, UpstreamEvent } from '../formats/core/contract.ts'
import { charsOf } from '../formats/core/generated-text.ts'
import { joinContent, type MessageContent } from '../lib/http/message-content.ts'
import type { Admission } from './admit.ts'
import type { StreamServed } from './offers-outcome.ts'
import { KIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

/** Content for the client, and whether the stream continues. `spent`: no money is left for more. */
export type StreamStep = { readonly content: MessageContent } & (
  | { readonly end: 'open' | 'done' | 'spent' }
  | { readonly end: 'broken'; readonly failure: UpstreamFailure }
)

/** The step for an event that is not a chunk of the answer. */
export function ended(read: Exclude<ReadEvent, { kind: 'chunk' }>, stream: AdaptedStream, text: string): StreamStep {
  if (read.kind === 'done' || (stream.finished && !read.failure.isExcess)) return { end: 'done', content: text }
  return { end: 'broken', content: text, failure: read.failure }
}

/** The step for events of bytes, which pass unchanged. */
export function passedBytes(events: readonly UpstreamEvent[]): StreamStep {
  const parts = events.flatMap(({ bytes }) => bytes ?? [])
  const content = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
  return { end: parts.length === events.length ? 'open' : 'done', content }
}

/** The content that ends a stream that is complete or was cut at its limit. */
export function endOf({ open: { stream } }: StreamServed, { content, end }: StreamStep, billed: Usage): MessageContent {
  const cut = end === 'spent' ? (stream.cutAtLength?.() ?? '') : ''
  return joinContent(content, cut + stream.end(billed))
}

/** No token is longer. The longest tokens of o200k_base are runs of blanks of this length. */
const CHARS_PER_TOKEN_MAX = limit(
  'runawayCharsPerToken',
  128,
  'A stream with more characters per token of its output limit, plus the margin, is cut off.',
)
const RUNAWAY_MARGIN_CHARS = limit(
  'runawayMarginChars',
  64 * KIB,
  'A stream may exceed its output limit by this many characters before it is cut off.',
)
export const RUNAWAY: UpstreamFailure = {
  kind: 'garbage',
  status: 200,
  message: 'the upstream passes the output limit',
}

const CUT_OFF: Failure = {
  kind: 'upstream_error',
  message:
    'The upstream exceeded the output limit and was cut off. The reported usage was charged, at most up to the limit.',
}

/** Whether more has arrived than the quoted output can be. A vendor that ignores the limit might never end. */
export function isRunaway({ produced, thoughts = '' }: AdaptedStream, { quoted }: Admission): boolean {
  const bound = quoted.outputTokensMax * CHARS_PER_TOKEN_MAX + RUNAWAY_MARGIN_CHARS
  return charsOf(produced) + charsOf(thoughts) > bound
}

const SILENT = 'The upstream went silent in the middle.'
const BROKEN_OFF = 'The upstream broke off in the middle.'
const EXCESSIVE = 'The upstream sent more than an answer can need, and was cut off.'

/** The message inside a stream. What arrived has been charged, of images only whole ones, and the message says so. */
export function inBand(upstream: UpstreamFailure, { delivered }: AdaptedStream): Failure {
  if (upstream === RUNAWAY) return CUT_OFF
  const { kind } = failureForClient(upstream)
  const timeout = kind === 'upstream_timeout'
  const message = timeout ? SILENT : upstream.isExcess ? EXCESSIVE : BROKEN_OFF
  const charged = delivered?.length === 0 ? 'Nothing was charged.' : 'What arrived was charged.'
  return { kind: timeout ? kind : 'upstream_error', message: `${message} ${charged}` }
}
