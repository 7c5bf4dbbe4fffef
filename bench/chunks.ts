/** The cost of a chunk that is translated to another dialect, beside the same chunk passed on in the same round. */
import type { Sample } from './sample.ts'
import { isCounted, spread, type Spread } from './spread.ts'
import { cases, type Answer } from './workload.ts'

export type ChunkRow = {
  readonly title: string
  readonly target: string
  /**
   * CPU per chunk in µs: of a whole stream with the whole cost of a request, or of the extra chunks of a longer stream.
   */
  readonly passedUs: Spread
  readonly translatedUs: Spread
  readonly ratio: Spread
}

type Stream = Extract<Answer, { kind: 'stream' }>
/** A stream of each kind by case id. Both are alike in everything but the vendor's dialect. */
type Pair = { readonly stream: Stream; readonly translatedId: string; readonly passedId: string }

const pairs: readonly Pair[] = cases.flatMap(({ id, answer, besideId }) =>
  besideId !== undefined && answer.kind === 'stream' ? [{ stream: answer, translatedId: id, passedId: besideId }] : [],
)

/** CPU in µs, by round. */
type Costs = { readonly passed: readonly number[]; readonly translated: readonly number[] }

const titleOf = ({ chunks, pace }: Stream): string => `stream of ${chunks} chunks, ${pace}`

export function chunkRows(samples: readonly Sample[]): ChunkRow[] {
  const counted = samples.filter(isCounted)
  const rows: ChunkRow[] = []
  for (const target of new Set(samples.map((sample) => sample.target))) {
    const mine = counted.filter((sample) => sample.target === target)
    for (const pair of pairs) {
      const { stream } = pair
      const costs = costsOf(mine, pair)
      if (costs.translated.length === 0) continue
      rows.push({ title: titleOf(stream), target, ...perChunk(costs, stream.chunks) })
      const shorter = pairs.find((other) => other.stream.pace === stream.pace && other.stream.chunks < stream.chunks)
      if (!shorter) continue
      const title = `${titleOf(stream)}: those after the ${shorter.stream.chunks}th`
      const more = stream.chunks - shorter.stream.chunks
      rows.push({ title, target, ...perChunk(over(costs, costsOf(mine, shorter)), more) })
    }
  }
  return rows
}

function costsOf(samples: readonly Sample[], { passedId, translatedId }: Pair): Costs {
  const of = (id: string): number[] => samples.flatMap(({ caseId, cpuUs }) => (caseId === id ? [cpuUs ?? NaN] : []))
  return { passed: of(passedId), translated: of(translatedId) }
}

const less = (all: readonly number[], part: readonly number[]): number[] => all.map((us, i) => us - (part[i] ?? NaN))

const over = (longer: Costs, shorter: Costs): Costs => ({
  passed: less(longer.passed, shorter.passed),
  translated: less(longer.translated, shorter.translated),
})

const perChunk = ({ passed, translated }: Costs, chunks: number): Omit<ChunkRow, 'title' | 'target'> => ({
  passedUs: spread(passed.map((us) => us / chunks)),
  translatedUs: spread(translated.map((us) => us / chunks)),
  ratio: spread(translated.map((us, i) => us / (passed[i] ?? NaN))),
})

/** The bar: CPU per chunk of the translated stream, over that of the stream passed on in the same round. */
export const TRANSLATED_TIMES_MAX = 3
/** The ratio that the bar is for. Other rows show the more expensive parts of a chunk. */
export const translatedRatio = (rows: readonly ChunkRow[], target: string): number | undefined =>
  rows.find((row) => row.target === target && row.title === titleOf(barred))?.ratio.median

const barred: Stream = { kind: 'stream', dialect: 'messages', chunks: 100, pace: 'turns' }
