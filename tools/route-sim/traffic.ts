/** Requests to simulate. The same seed makes the same requests. */
import { textHash } from '../../src/lib/primitives/text-hash.ts'
import { SECOND_MS } from '../../src/lib/primitives/units.ts'

export type SimRequest = {
  readonly atMs: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Requests of one conversation begin alike. Undefined: it shares its beginning with no other. */
  readonly conversation: string | undefined
}

type Random = () => number

/** A random number generator (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A factor whose logarithm is normal, with the median 1. */
export const logNormal = (random: Random, spread: number): number =>
  Math.exp(spread * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()))

const waitOf = (random: Random, perSecond: number): number => (-Math.log(1 - random()) * SECOND_MS) / perSecond

export type TrafficShape = { readonly seed: number; readonly requests: number; readonly perSecond: number }

/** Single requests that arrive evenly at random. */
export function madeTraffic({ seed, requests, perSecond }: TrafficShape): readonly SimRequest[] {
  const random = randomFrom(seed)
  let atMs = 0
  return Array.from({ length: requests }, () => ({
    atMs: (atMs += waitOf(random, perSecond)),
    inputTokens: Math.ceil(600 * logNormal(random, 0.8)),
    outputTokens: Math.ceil(200 * logNormal(random, 0.7)),
    conversation: undefined,
  }))
}

/**
 * Single requests in bursts, with the lengths of Azure's conversation service: a median of 1,020 tokens in and 129 out
 * (Splitwise, arxiv.org/abs/2311.18677, figure 3, traces of 2023-11).
 */
export function recordedLikeTraffic({ seed, requests, perSecond }: TrafficShape): readonly SimRequest[] {
  const random = randomFrom(seed)
  const made: SimRequest[] = []
  for (let atMs = 0; made.length < requests;) {
    const burst = 1 + Math.floor(8 * random() ** 2)
    atMs += waitOf(random, perSecond / 3.3)
    for (let i = 0; i < burst && made.length < requests; i++) {
      const inputTokens = Math.ceil(1_020 * logNormal(random, 1.1))
      const outputTokens = Math.ceil(129 * logNormal(random, 1))
      made.push({ atMs: atMs + i, inputTokens, outputTokens, conversation: undefined })
    }
  }
  return made
}

/** Sessions of coding agents: each turn repeats all earlier ones. */
export function agentTraffic({ seed, requests, perSecond }: TrafficShape): readonly SimRequest[] {
  const random = randomFrom(seed)
  const made: SimRequest[] = []
  const turnsMean = 12
  for (let session = 0, startMs = 0; made.length < requests; session++) {
    startMs += waitOf(random, perSecond / turnsMean)
    const turns = 2 + Math.floor(2 * (turnsMean - 2) * random())
    const conversation = `session ${textHash(`${seed}/${session}`)}`
    let inputTokens = Math.ceil(4_000 * logNormal(random, 0.5))
    for (let turn = 0, atMs = startMs; turn < turns; turn++) {
      const outputTokens = Math.ceil(150 * logNormal(random, 0.7))
      made.push({ atMs, inputTokens, outputTokens, conversation })
      inputTokens += outputTokens + Math.ceil(500 * logNormal(random, 0.8))
      atMs += 8_000 * logNormal(random, 0.8)
    }
  }
  return made.toSorted((a, b) => a.atMs - b.atMs).slice(0, requests)
}

/**
 * Requests as recorded, one JSON object a line: `at_ms`, `input_tokens`, `output_tokens`, and `conversation` if there
 * is one. `docs/routing.md` has an example.
 */
export const readTraffic = (lines: string): readonly SimRequest[] =>
  lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const fields = JSON.parse(line) as Readonly<Record<string, unknown>>
      const [atMs, inputTokens, outputTokens] = ['at_ms', 'input_tokens', 'output_tokens'].map((name) => {
        const value = Number(fields[name])
        if (!Number.isFinite(value) || value < 0) throw new Error(`${name} must be a number: ${line.slice(0, 200)}`)
        return value
      }) as [number, number, number]
      const { conversation } = fields
      return {
        atMs,
        inputTokens,
        outputTokens,
        conversation: typeof conversation === 'string' ? conversation : undefined,
      }
    })
    .toSorted((a, b) => a.atMs - b.atMs)
