/** Prints the summary as tables for people, one for each kind of figure. */
import type { ChunkRow } from './chunks.ts'
import type { FigureRow } from './figures.ts'
import type { Spread } from './spread.ts'
import type { FrontierRow, HeldRow, Row, Summary } from './summary.ts'

const whole = (spread: Spread | undefined): string => (spread ? Math.round(spread.median).toLocaleString('en') : '–')
const fixed = (value: number | undefined, digits: number): string => value?.toFixed(digits) ?? '–'
const spreadText = ({ median, min, max }: Spread, digits = 2): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`

/** A table in Markdown. The columns after the first are aligned as numbers. */
function tableOf(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, i) => Math.max(...lines.map((cells) => cells[i]?.length ?? 0)))
  const pad = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  const [header = [], ...body] = lines
  return [pad(header), pad(rule), ...body.map(pad)].join('\n')
}

const printTable = (title: string, lines: readonly (readonly string[])[]): void => {
  console.log(`\n${title}\n\n${tableOf(lines)}`)
}

/** Prints the tables in Markdown, then the bars and the complaints. */
export function printReport(summary: Summary): void {
  const { cores, rows, chunks, frontier, held, residents, figures, bars, complaints } = summary
  if (rows.length > 0) printCpu(rows)
  if (chunks.length > 0) printChunks(chunks)
  const alone = rows.filter(({ added }) => added)
  if (alone.length > 0) printLatency(alone)
  if (frontier.length > 0) printFrontier(frontier)
  if (held.length > 0) printHeld(held)
  const resident = Object.entries(residents)
  if (resident.length > 0) {
    const lines = resident.map(([name, { idleMb, afterMb }]) => [name, fixed(idleMb, 0), fixed(afterMb, 0)])
    printTable('Resident memory, MB', [['', 'before the first request', 'after the last'], ...lines])
  }
  if (figures.length > 0) {
    const header = ['case', 'figure', 'median', 'spread', 'bar']
    printTable('The ledger and the start', [header, ...figures.map(figureCells)])
  }
  console.log(`\n${cores} cores shared by gateway, vendor and load generator: compare ratios of one run.`)
  if (rows.length > 0) {
    console.log("host's memory: a read beyond a core's own cache; it rises with what other machines do.")
    printThreads(rows)
  }
  console.log()
  for (const { text, verdict } of bars) console.log(`${verdict.toUpperCase()}: ${text}`)
  for (const complaint of complaints) console.log(`WRONG: ${complaint}`)
}

function printCpu(rows: readonly Row[]): void {
  const targets = Object.keys(rows[0]?.cpuUs ?? {})
  const lines = rows.map(({ work, cpuUs, ratio, requestsPerSecond, memoryNs }) => [
    work.title,
    String(work.connections),
    ...targets.map((target) => whole(cpuUs[target])),
    ratio ? spreadText(ratio) : '–',
    ...[...targets, 'direct'].map((target) => whole(requestsPerSecond[target])),
    spreadText(memoryNs, 0),
  ])
  const rates = ['requests/s', ...targets.slice(1), 'direct']
  printTable('CPU per request, µs, and requests a second', [
    ['case', 'clients', ...targets, 'to nginx (spread)', ...rates, "host's memory, ns"],
    ...lines,
  ])
}

function printChunks(rows: readonly ChunkRow[]): void {
  const lines = rows.map(({ title, target, passedUs, translatedUs, ratio }) => [
    title,
    target,
    fixed(passedUs.median, 2),
    fixed(translatedUs.median, 2),
    spreadText(ratio),
  ])
  const header = ['case', '', 'vendor speaks chat', 'vendor speaks Messages', 'ratio (spread)']
  printTable('CPU per chunk for a client that speaks chat, µs', [header, ...lines])
}

function printLatency(rows: readonly Row[]): void {
  const targets = Object.keys(rows[0]?.added ?? {})
  const lines = rows.map(({ work, added }) => [
    work.title,
    ...targets.flatMap((target) => {
      const its = added?.[target]
      return [`${fixed(its?.p50Ms, 2)} / ${fixed(its?.p99Ms, 2)}`, fixed(its?.firstByteP50Ms, 2)]
    }),
  ])
  const header = targets.flatMap((target) => [`${target} p50 / p99`, 'first byte p50'])
  printTable('Latency added at one client, ms', [['case', ...header], ...lines])
}

function printFrontier(rows: readonly FrontierRow[]): void {
  const targets = [...new Set(rows.flatMap(({ rate }) => Object.keys(rate)))]
  const lines = rows.map(({ clients, rate, p99Ms }) => [
    String(clients),
    ...targets.flatMap((target) => [whole(rate[target]), fixed(p99Ms[target]?.median, 1)]),
  ])
  const header = targets.flatMap((target) => [`${target} requests/s`, 'p99 ms'])
  printTable('Throughput, non-streamed 2 KB each way, until more clients add nothing', [
    ['clients', ...header],
    ...lines,
  ])
}

function printHeld(rows: readonly HeldRow[]): void {
  const lines = rows.map(({ target, streams, idleMb, overMb, overPercent, firstByteP99Ms }) => [
    target,
    whole(idleMb),
    whole(overMb),
    fixed((overMb.median * 1024) / streams, 1),
    fixed(overPercent.median, 1),
    fixed(firstByteP99Ms.median, 0),
  ])
  const header = ['', 'idle MB', 'MB over idle', 'KB a stream', '% of a core over idle', 'first byte p99 ms']
  printTable(`${rows[0]?.streams.toLocaleString('en')} open streams, a chunk a second each`, [header, ...lines])
}

function figureCells({ title, figure, spread, digits, bar }: FigureRow): string[] {
  const [median, min, max] = [spread.median, spread.min, spread.max].map((value) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  )
  return [title, figure, median ?? '', `${min}–${max}`, bar]
}

function printThreads(rows: readonly Row[]): void {
  console.log('\nOurs by thread, µs/request:')
  for (const { work, threads, upstreamConnections } of rows) {
    const parts = Object.entries(threads)
      .filter(([, us]) => us >= 1)
      .toSorted(([, a], [, b]) => b - a)
    console.log(`  ${work.id}: ${parts.map(([name, us]) => `${name} ${Math.round(us)}`).join(', ')}`)
    const opened = upstreamConnections['tollgate']?.median ?? 0
    if (opened >= 0.01) console.log(`    NOT KEPT ALIVE: ${opened.toFixed(2)} upstream connections per request`)
  }
}
