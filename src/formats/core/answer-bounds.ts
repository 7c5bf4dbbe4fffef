/** How much an upstream may send beyond the request before its stream is broken off. */
import type { UpstreamFailure } from '../../domain/failure.ts'
import { ANSWER_CALLS_MAX } from '../../domain/limits.ts'
import { MIB } from '../../lib/primitives/units.ts'
import { limit } from '../../lib/primitives/limit.ts'

type ExcessFailure = { readonly kind: 'failed'; readonly failure: UpstreamFailure }

const excess = (message: string): ExcessFailure => ({
  kind: 'failed',
  failure: { kind: 'garbage', status: 200, message, isExcess: true },
})

/** Some servers number choices in their own way. No known server sends this many that were not requested. */
export const SPARE_CHOICES = 8
/** Blocks of one answer that may be open at the same time. */
export const OPEN_BLOCKS_MAX = limit(
  'answerOpenBlocksMax',
  1_024,
  'A stream with more open blocks is cut off as invalid.',
)

/** Far more than any vendor sends. */
export const CANDIDATES_MAX = limit('answerCandidatesMax', 256, 'A stream with more candidates is cut off as invalid.')
/** What may follow the last finish reason of an answer. It is held back until the answer is settled. */
export const BEHIND_CHARS_MAX = limit(
  'answerBehindCharsMax',
  MIB,
  'A stream with more text after its last finish reason is cut off as invalid.',
)

export const TOO_MUCH_BEHIND = excess('the upstream continued after the end of its answer')
export const TOO_MANY_CHOICES = excess('the upstream sent choices that were not requested')
export const TOO_MANY_CALLS = excess(`the upstream sent more than ${ANSWER_CALLS_MAX} tool calls in one answer`)
export const TOO_MANY_BLOCKS = excess(`the upstream began more than ${OPEN_BLOCKS_MAX} open blocks`)
