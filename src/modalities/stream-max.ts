/**
 * How much a stream may bring besides words. Words have a bound of their own; what has none in it (empty deltas, pings,
 * comments, finishes of choices that nobody asked for) costs as much to read and to pass on, and no vendor charges it.
 */
import type { StreamArrival, StreamMax } from './modality.ts'
import { KIB, MIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

/**
 * Of any stream, and more for each token that its answer may have. An event of a token takes 300 bytes, one with twenty
 * log probabilities 2,500; some servers send an event for each character, and one for each token that nobody sees.
 */
export const streamBounds = {
  events: limit(
    'streamSpareEvents',
    10_000,
    'A stream with more events, on top of those for its tokens, is cut off as invalid.',
  ),
  eventsPerToken: limit('streamEventsPerToken', 8, 'A stream with more events per token is cut off as invalid.'),
  bytes: limit(
    'streamSpareBytes',
    8 * MIB,
    'A stream with more bytes, on top of those for its tokens, is cut off as invalid.',
  ),
  bytesPerToken: limit('streamBytesPerToken', 4 * KIB, 'A stream with more bytes per token is cut off as invalid.'),
  /** Of image models: a picture of 400 tokens can have 4 MB, and comes once for each preview. */
  imageBytesPerToken: limit(
    'streamImageBytesPerToken',
    64 * KIB,
    'A stream with more bytes per image token is cut off as invalid.',
  ),
}

/** The part of it that a token has which brought no words. */
const WORDLESS_PART = 1 / 8

/** Of a stream of words. A word has a character at least: so many tokens may have come in words. */
export const wordStreamMax = ({ tokens, chars }: StreamArrival): StreamMax => {
  const allowance = tokens * WORDLESS_PART + Math.min(tokens, chars) * (1 - WORDLESS_PART)
  return {
    events: streamBounds.events + allowance * streamBounds.eventsPerToken,
    bytes: streamBounds.bytes + allowance * streamBounds.bytesPerToken,
  }
}

/** Of a stream of images: an image comes in one event, and has tokens but no words. */
export const imageStreamMax = ({ tokens, eventCharsMax }: StreamArrival): StreamMax => {
  const allowance = tokens * WORDLESS_PART + tokens * (1 - WORDLESS_PART)
  return {
    events: streamBounds.events + allowance * streamBounds.eventsPerToken,
    bytes: Math.max(streamBounds.bytes, 2 * eventCharsMax) + allowance * streamBounds.imageBytesPerToken,
  }
}
