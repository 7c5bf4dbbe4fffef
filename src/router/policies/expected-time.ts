/** How long offers are expected to take for a request. */
import type { Offer } from '../../domain/catalog.ts'
import { workClassOf, type RoutedRequest } from '../signals.ts'
import type { RankingInput } from './policy.ts'

/** A reader has begun to read when so many tokens have come. */
const FIRST_TOKENS = 20
/** An offer of which every attempt fails is not infinitely slow, or it could not be compared. */
const FAILURES_MAX = 0.9

/** The request that is assumed where none is known. */
export const usualRequest: RoutedRequest = { textBytes: 4_000, stream: true, choices: 1, outputTokensMax: undefined }

type Times = {
  readonly firstEventMs: number | undefined
  readonly tokenMs: number | undefined
  readonly silenceMs: number
  readonly failureShare: number
}

/** What is measured of an offer for requests like this one. */
export function measuredTimes({ id }: Offer, { signals, nowMs, request = usualRequest }: RankingInput): Times {
  const known = signals?.offer(id)
  const work = workClassOf(request)
  return {
    firstEventMs: known?.firstEventMs(work, nowMs),
    tokenMs: request.stream ? known?.tokenMs(work, nowMs) : undefined,
    silenceMs: known?.silenceMs(work, nowMs) ?? 0,
    failureShare: known?.failureShare(nowMs) ?? 0,
  }
}

const least = (values: readonly (number | undefined)[], otherwise: number): number => {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? otherwise : Math.min(...known)
}

/**
 * The time to the first twenty tokens of a stream, or to a whole reply, in milliseconds. What is not measured counts as
 * the best that is: such an offer is then tried. Failures add the time of the attempts that they take.
 */
export function expectedTimes(offers: readonly Offer[], input: RankingInput): readonly number[] {
  const times = offers.map((offer) => measuredTimes(offer, input))
  const firstEventMs = least(
    times.map((one) => one.firstEventMs),
    1,
  )
  const tokenMs = least(
    times.map((one) => one.tokenMs),
    0,
  )
  return times.map((one) => {
    const firstMs = Math.max(one.firstEventMs ?? firstEventMs, one.silenceMs)
    const readableMs = firstMs + FIRST_TOKENS * (one.tokenMs ?? tokenMs)
    return readableMs / (1 - Math.min(FAILURES_MAX, one.failureShare))
  })
}

/** For operators: what the expected time is made of. */
export function timeReason(offer: Offer, input: RankingInput): string {
  const { firstEventMs, tokenMs, silenceMs } = measuredTimes(offer, input)
  const { stream } = input.request ?? usualRequest
  const silent = silenceMs > (firstEventMs ?? 0) ? `; its requests wait since ${Math.round(silenceMs)} ms` : ''
  if (firstEventMs === undefined)
    return `no ${stream ? 'stream' : 'whole reply'} measured yet, so it counts as the fastest${silent}`
  const what = stream ? 'first event' : 'whole reply'
  const pace = tokenMs === undefined ? '' : `, then ${Math.round(1_000 / tokenMs)} tokens a second`
  return `${what} after ${Math.round(firstEventMs)} ms${pace}${silent}`
}
