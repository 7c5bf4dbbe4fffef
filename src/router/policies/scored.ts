/** Ranks by a score, lowest first. The policies that measure or calculate share it. */
import type { Offer } from '../../domain/catalog.ts'
import type { PolicyName } from '../../domain/routing.ts'
import { mixedFraction } from '../../lib/primitives/text-hash.ts'
import { drawByWeight, isWarm, type Placement, type RankingInput, type RoutingPolicy } from './policy.ts'

export type Scoring = {
  readonly name: PolicyName
  /** The score of each offer, in their order. Every score is above zero. */
  readonly scoresOf: (offers: readonly Offer[], input: RankingInput) => readonly number[]
  /** For operators: what the score of an offer is made of. */
  readonly reasonOf: (offer: Offer, input: RankingInput) => string
  /**
   * `two`: the better of two drawn offers is tried first. Requests then never all go to the offer that seems best at
   * this moment. `all`: the best of all.
   */
  readonly choices: 'two' | 'all'
  /** Scores up to this factor apart count as equal, and the weight decides. */
  readonly equalUpTo: number
  /** A conversation keeps to its offer as long as the score is at most so many times the best. */
  readonly keepsUpTo: number
  /**
   * The share of requests that first try an offer drawn from all. One that is k times worse than the best gets only a
   * kth of its part.
   */
  readonly exploration: number
}

/** An offer that fails more often comes after the others of its priority, until its failures are old. */
const DOUBTFUL_SHARE = 0.2

type Place = { readonly offer: Offer; readonly score: number; readonly draw: number; readonly isDoubtful: boolean }

export const scoredPolicy = (scoring: Scoring): RoutingPolicy => ({
  name: scoring.name,
  rank: (candidates, input) => rankByScore(candidates, input, scoring),
  explain: (candidates, input) => explainByScore(candidates, input, scoring),
})

/** By priority. Within a priority, doubtful offers come last. */
const compare = (a: Place, b: Place): number =>
  a.offer.priority - b.offer.priority || Number(a.isDoubtful) - Number(b.isDoubtful) || a.score - b.score

function rankByScore(candidates: readonly Offer[], input: RankingInput, scoring: Scoring): readonly Offer[] {
  const places = placesOf(candidates, input, scoring)
  const [best] = places
  if (!best) return []
  const rivals = places.filter(
    ({ offer, isDoubtful }) => offer.priority === best.offer.priority && isDoubtful === best.isDoubtful,
  )
  const { offer: first } = choose(best, rivals, { input, scoring })
  const ranked = places.map(({ offer }) => offer)
  return first === best.offer ? ranked : [first, ...ranked.filter((offer) => offer !== first)]
}

function placesOf(candidates: readonly Offer[], input: RankingInput, { scoresOf }: Scoring): Place[] {
  const scores = scoresOf(candidates, input)
  const places = candidates.map((offer, i) => ({
    offer,
    score: scores[i] ?? 1,
    draw: drawByWeight(offer, input),
    isDoubtful: failureShareOf(offer, input) > DOUBTFUL_SHARE,
  }))
  return places.sort(compare)
}

const failureShareOf = ({ id }: Offer, { signals, nowMs }: RankingInput): number =>
  signals?.offer(id)?.failureShare(nowMs) ?? 0

type Choice = { readonly input: RankingInput; readonly scoring: Scoring }

/** `rivals` are sorted by score, and `best` is the first of them. */
function choose(best: Place, rivals: readonly Place[], { input, scoring }: Choice): Place {
  if (rivals.length === 1) return best
  const warm = input.warm && rivals.find(({ offer }) => isWarm(offer, input))
  if (warm && warm.score <= best.score * scoring.keepsUpTo) return warm
  if (scoring.exploration > 0 && input.random() < scoring.exploration) {
    const drawn = rivals[Math.floor(input.random() * rivals.length)]
    if (drawn && input.random() * drawn.score < best.score) return drawn
  }
  const { choices, equalUpTo } = scoring
  return choices === 'two' ? betterOfTwo(best, rivals, equalUpTo) : drawnOfEqual(best, rivals, equalUpTo)
}

const lowerDraw = (a: Place, b: Place): Place => (b.draw < a.draw ? b : a)

const drawnOfEqual = (best: Place, rivals: readonly Place[], equalUpTo: number): Place =>
  rivals.reduce((chosen, rival) => (rival.score <= best.score * equalUpTo ? lowerDraw(chosen, rival) : chosen), best)

function betterOfTwo(best: Place, rivals: readonly Place[], equalUpTo: number): Place {
  const first = rivals.reduce(lowerDraw)
  const second = rivals.reduce(
    (chosen, rival) => (rival === first ? chosen : lowerDraw(chosen, rival)),
    other(best, first, rivals),
  )
  return first.score <= second.score * equalUpTo ? first : second
}

const other = (best: Place, first: Place, rivals: readonly Place[]): Place =>
  first === best ? (rivals[1] ?? best) : best

/** So many rankings are made to find the shares. */
const RANKINGS = 2_000

function explainByScore(candidates: readonly Offer[], input: RankingInput, scoring: Scoring): readonly Placement[] {
  let drawn = 0
  // The same numbers each time, so that an unchanged state is explained in the same words.
  const random = (): number => mixedFraction(++drawn, RANKINGS)
  const firsts = new Map<string, number>()
  for (let i = 0; i < RANKINGS; i++) {
    const [first] = rankByScore(candidates, { ...input, random }, scoring)
    if (first) firsts.set(first.id, (firsts.get(first.id) ?? 0) + 1)
  }
  const scores = scoring.scoresOf(candidates, input)
  return candidates.map((offer, i) => ({
    sharePercent: Math.round(((firsts.get(offer.id) ?? 0) * 1_000) / RANKINGS) / 10,
    score: scores[i],
    reason: reasonFor(offer, input, scoring),
  }))
}

function reasonFor(offer: Offer, input: RankingInput, { reasonOf }: Scoring): string {
  const failed = failureShareOf(offer, input)
  const reason = `priority ${offer.priority}; ${reasonOf(offer, input)}`
  if (failed <= DOUBTFUL_SHARE) return reason
  return `${reason}; ${Math.round(failed * 100)} % of its recent attempts failed, so it comes after the others`
}
