/**
 * Figures that programs of their own measure, one process for each round: their definitions, their bars, and the code
 * that runs them.
 */
import { join } from 'node:path'
import type { Verdict } from './sample.ts'
import { spread as spreadOf, type Spread } from './spread.ts'

/** The output of such a program, as one line of JSON. */
export type Measurement = { readonly values: Readonly<Record<string, number>>; readonly problem?: string | undefined }

type Bar =
  | { readonly kind: 'least'; readonly than: number }
  | { readonly kind: 'most'; readonly than: number }
  /** At most `by` more than another value of the same round. */
  | { readonly kind: 'beside'; readonly value: string; readonly name: string; readonly by: number }

type Figure = {
  /** Its name in `values`. */
  readonly value: string
  readonly title: string
  readonly digits: number
  readonly bar?: Bar
}

export type FigureCase = {
  readonly id: string
  readonly title: string
  readonly program: string
  readonly args: readonly string[]
  readonly figures: readonly Figure[]
  /** Whether `--quick` includes it. */
  readonly extent: 'quick' | 'full'
}

export type FigureSample = { readonly caseId: string; readonly measured: Measurement }

export type FigureRow = {
  readonly title: string
  readonly figure: string
  readonly spread: Spread
  readonly digits: number
  /** The bar in words. Empty without a bar. */
  readonly bar: string
}

const OVER_DISK_MS = 5
const START_MS = 300

const rate = { value: 'pairsPerSecond', title: 'pairs/s', digits: 0 }
const cpu = { value: 'cpuUsPerPair', title: 'CPU µs/pair', digits: 0 }
const holds = [
  { value: 'holdP50Ms', title: 'hold durable p50 ms', digits: 2 },
  { value: 'holdP99Ms', title: 'hold durable p99 ms', digits: 2 },
]
const pairs = [
  { value: 'pairP50Ms', title: 'pair p50 ms', digits: 2 },
  { value: 'pairP99Ms', title: 'pair p99 ms', digits: 2 },
]
const disk = [
  { value: 'diskP50Ms', title: 'disk fdatasync p50 ms', digits: 2 },
  { value: 'diskP99Ms', title: 'disk fdatasync p99 ms', digits: 2 },
]
const overDisk: Bar = { kind: 'beside', value: 'diskP99Ms', name: "the disk's p99", by: OVER_DISK_MS }

/**
 * The bar for the rate is where the load can reach it. With one client the disk sets the rate, with 64 the round trip.
 */
const barred = [
  { ...rate, bar: { kind: 'least', than: 20_000 } },
  ...holds.map((hold) => (hold.value === 'holdP99Ms' ? { ...hold, bar: overDisk } : hold)),
] as const satisfies readonly Figure[]

const ledger = (clients: number, figures: readonly Figure[], extent: FigureCase['extent']): FigureCase => ({
  id: `ledger-c${clients}`,
  title: `hold, then settlement, on one account; ${clients} ${clients === 1 ? 'client' : 'clients'}`,
  program: 'ledger.ts',
  args: ['--clients', String(clients)],
  figures: [...figures, ...pairs, cpu, ...disk],
  extent,
})

const start = (by: string, title: string): FigureCase => ({
  id: `start-${by}`,
  title,
  program: 'start.ts',
  args: ['--by', by],
  figures: [
    { value: 'answerMs', title: 'first answer ms', digits: 0, bar: { kind: 'most', than: START_MS } },
    { value: 'chatMs', title: 'first chat ms', digits: 0 },
    { value: 'cpuMs', title: 'CPU ms', digits: 0 },
  ],
  extent: 'quick',
})

export const figureCases: readonly FigureCase[] = [
  ledger(1, [rate, ...holds], 'quick'),
  ledger(64, [rate, ...holds], 'full'),
  ledger(128, barred, 'quick'),
  ledger(512, [rate, ...holds], 'full'),
  {
    id: 'ledger-soon-c128',
    title: 'hold and settlement in one commit, on one account; 128 clients',
    program: 'ledger.ts',
    args: ['--clients', '128', '--written', 'soon'],
    figures: [rate, ...pairs, cpu, ...disk],
    extent: 'full',
  },
  start('launcher', 'start on an existing folder, `node bin/tollgate.js serve`'),
  start('program', 'start on an existing folder, the bare program'),
]

/** Runs the program of a case once. */
export async function measureFigures({ id, program, args }: FigureCase): Promise<FigureSample> {
  const child = Bun.spawn([process.execPath, '--no-env-file', join(import.meta.dir, program), ...args], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = (await child.stdout.text()).trim()
  const code = await child.exited
  if (code !== 0) return { caseId: id, measured: { values: {}, problem: `${program} ended with ${code}: ${output}` } }
  return { caseId: id, measured: JSON.parse(output) as Measurement }
}

/** A line of progress for people. */
export function progressOf({ figures }: FigureCase, { measured }: FigureSample): string {
  const parts = figures.map(({ value, title, digits }) => `${title} ${measured.values[value]?.toFixed(digits) ?? '–'}`)
  return parts.join(' · ')
}

const wordsOf = (bar: Bar): string => {
  if (bar.kind === 'beside') return `≤ ${bar.name} + ${bar.by}`
  return `${bar.kind === 'least' ? '≥' : '≤'} ${bar.than.toLocaleString('en')}`
}

function isMet(bar: Bar, values: readonly number[], besides: readonly number[], medianOf: MedianOf): boolean {
  const median = medianOf(values)
  if (bar.kind === 'least') return median >= bar.than
  if (bar.kind === 'most') return median <= bar.than
  return medianOf(values.map((value, i) => value - (besides[i] ?? Number.NaN))) <= bar.by
}

type MedianOf = (values: readonly number[]) => number

/** Rows and verdicts: medians over the rounds, differences within a round. */
export function summarizeFigures(samples: readonly FigureSample[]): {
  readonly rows: FigureRow[]
  readonly bars: Verdict[]
} {
  const rows: FigureRow[] = []
  const bars: Verdict[] = []
  for (const { id, title, figures } of figureCases) {
    const mine = samples.filter(({ caseId }) => caseId === id)
    for (const { value, title: figure, digits, bar } of figures) {
      const each = (name: string): number[] => mine.map(({ measured }) => measured.values[name] ?? Number.NaN)
      const spread = spreadOf(each(value))
      if (mine.length > 0) rows.push({ title, figure, spread, digits, bar: bar ? wordsOf(bar) : '' })
      if (!bar) continue
      const text = `${title}: ${figure} ${wordsOf(bar)}`
      const besides = bar.kind === 'beside' ? each(bar.value) : []
      const met = isMet(bar, each(value), besides, (values) => spreadOf(values).median) ? 'met' : 'missed'
      const found = `${text} (${spread.median.toFixed(digits)})`
      bars.push(mine.length === 0 ? { text, verdict: 'not measured' } : { text: found, verdict: met })
    }
  }
  return { rows, bars }
}
