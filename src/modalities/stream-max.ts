/**
 * Bounds of a stream apart from its text, which has its own bound. Events without text (empty deltas, pings, comments,
 * finishes of choices that were not requested) cost as much to read and to pass on, and no vendor charges for them.
 */
import type { StreamArrival, StreamMax } from './modality.ts'
import { KIB, MIB } from '../lib/primitives/units.ts'
import { limit } from '../lib/primitives/limit.ts'

/**
 * A base for any stream, and an amount for each token that its answer may have. An event of one token takes 300 bytes,
 * one with twenty log probabilities 2,500. Some servers send an event for each character, or for each hidden token.
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
  /** For image models. A picture of 400 tokens can have 4 MB, and is sent once for each preview. */
  imageBytesPerToken: limit(
    'streamImageBytesPerToken',
    64 * KIB,
    'A stream with more bytes per image token is cut off as invalid.',
  ),
}

/** The part of the allowance that a token has if it brought no text. */
const WORDLESS_PART = 1 / 8

/** The bound of a stream of text. A token has at least one character, so `chars` bounds the tokens that had text. */
export const wordStreamMax = ({ tokens, chars }: StreamArrival): StreamMax => {
  const allowance = tokens * WORDLESS_PART + Math.min(tokens, chars) * (1 - WORDLESS_PART)
  return {
    events: streamBounds.events + allowance * streamBounds.eventsPerToken,
    bytes: streamBounds.bytes + allowance * streamBounds.bytesPerToken,
  }
}

/** The bound of a stream of images. An image arrives in one event, and has tokens but no text. */
export const imageStreamMax = ({ tokens, eventCharsMax }: StreamArrival): StreamMax => {
  const allowance = tokens * WORDLESS_PART + tokens * (1 - WORDLESS_PART)
  return {
    events: streamBounds.events + allowance * streamBounds.eventsPerToken,
    bytes: Math.max(streamBounds.bytes, 2 * eventCharsMax) + allowance * streamBounds.imageBytesPerToken,
  }
}
