/** The summary as a table for people. */
import type { FigureRow } from './figures.ts'
import type { Row, Spread, Summary } from './summary.ts'

const COLUMNS = [
  'case',
  'clients',
  'CPU µs/request: ours',
  'nginx',
  'ratio (spread)',
  'added ms p50/p99: ours',
  'nginx',
  'added first byte ms: ours',
  'nginx',
  'requests/s: ours',
  'nginx',
  'direct',
] as const

const whole = (spread: Spread | undefined): string => (spread ? Math.round(spread.median).toLocaleString('en') : '–')

function cellsOf({ work, cpuUs, ratio, added, requestsPerSecond }: Row): string[] {
  const latency = (target: string): string => {
    const its = added?.[target]
    return its ? `${its.p50Ms.toFixed(2)} / ${its.p99Ms.toFixed(2)}` : ''
  }
  const firstByte = (target: string): string => added?.[target]?.firstByteP50Ms.toFixed(2) ?? ''
  return [
    work.title,
    String(work.connections),
    whole(cpuUs['tollgate']),
    whole(cpuUs['nginx']),
    ratio ? `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})` : '–',
    latency('tollgate'),
    latency('nginx'),
    firstByte('tollgate'),
    firstByte('nginx'),
    whole(requestsPerSecond['tollgate']),
    whole(requestsPerSecond['nginx']),
    whole(requestsPerSecond['direct']),
  ]
}

/** A table in Markdown; the columns after the first are aligned as numbers are. */
function tableOf(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, i) => Math.max(...lines.map((cells) => cells[i]?.length ?? 0)))
  const pad = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  const [header = [], ...body] = lines
  return [pad(header), pad(rule), ...body.map(pad)].join('\n')
}

function figureCells({ title, figure, spread, digits, bar }: FigureRow): string[] {
  const [median, min, max] = [spread.median, spread.min, spread.max].map((value) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  )
  return [title, figure, median ?? '', `${min}–${max}`, bar]
}

/** Prints the tables, in Markdown, then what the bars say and what went wrong. */
export function printReport(summary: Summary): void {
  if (summary.rows.length > 0) printRelay(summary)
  if (summary.figures.length > 0) {
    console.log(tableOf([['case', 'figure', 'median', 'spread', 'bar'], ...summary.figures.map(figureCells)]))
  }
  console.log()
  for (const { text, verdict, isBar } of summary.bars)
    console.log(`${isBar ? 'bar ' : 'next'} ${verdict.toUpperCase()}: ${text}`)
  for (const complaint of summary.complaints) console.log(`WRONG: ${complaint}`)
}

function printRelay({ cores, rows, residentMb }: Summary): void {
  console.log(tableOf([[...COLUMNS], ...rows.map(cellsOf)]))
  console.log(`\n${cores} cores shared by gateway, vendor and load generator: compare ratios, not requests per second.`)
  const memory = Object.entries(residentMb).map(([name, mb]) => `${name} ${Math.round(mb)} MB`)
  console.log(`Resident memory at the end: ${memory.join(', ')}.`)
  console.log('\nOurs by thread, µs/request:')
  for (const { work, threads, upstreamConnections } of rows) {
    const parts = Object.entries(threads)
      .filter(([, us]) => us >= 1)
      .toSorted(([, a], [, b]) => b - a)
    console.log(`  ${work.id}: ${parts.map(([name, us]) => `${name} ${Math.round(us)}`).join(', ')}`)
    const opened = upstreamConnections['tollgate']?.median ?? 0
    if (opened >= 0.01) console.log(`    NOT KEPT ALIVE: ${opened.toFixed(2)} upstream connections per request`)
  }
  console.log()
}
