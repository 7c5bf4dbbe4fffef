/** What an upstream may send more of than was asked for, before its stream is broken off. */
import type { UpstreamFailure } from '../../domain/failure.ts'
import { ANSWER_CALLS_MAX } from '../../domain/limits.ts'
import { MIB } from '../../lib/primitives/units.ts'
import { limit } from '../../lib/primitives/limit.ts'

type ExcessFailure = { readonly kind: 'failed'; readonly failure: UpstreamFailure }

const excess = (message: string): ExcessFailure => ({
  kind: 'failed',
  failure: { kind: 'garbage', status: 200, message, isExcess: true },
})

/** Some servers number choices in a way of their own; nobody makes this many that nobody asked for. */
export const SPARE_CHOICES = 8
/** Blocks of an answer that are under way at the same time. */
export const OPEN_BLOCKS_MAX = limit('answerOpenBlocksMax', 1_024, 'A stream with more is broken off as garbage.')

/** Far more than vendors make. */
export const CANDIDATES_MAX = limit('answerCandidatesMax', 256, 'A stream with more is broken off as garbage.')
/** Behind the last finish reason of an answer, which waits until it is paid for. */
export const BEHIND_CHARS_MAX = limit('answerBehindCharsMax', MIB, 'A stream with more is broken off as garbage.')

export const TOO_MUCH_BEHIND = excess('the upstream went on behind the end of its answer')
export const TOO_MANY_CHOICES = excess('the upstream sent choices that nobody asked for')
export const TOO_MANY_CALLS = excess(`the upstream sent more than ${ANSWER_CALLS_MAX} tool calls in one answer`)
export const TOO_MANY_BLOCKS = excess(`the upstream began more than ${OPEN_BLOCKS_MAX} blocks side by side`)
