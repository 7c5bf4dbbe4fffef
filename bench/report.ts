/** The summary as a table for people. */
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

/** Prints the table, in Markdown, then what the bars say and what went wrong. */
export function printReport({ cores, rows, bars, residentMb, complaints }: Summary): void {
  const lines = [[...COLUMNS], ...rows.map(cellsOf)]
  const widths = COLUMNS.map((_, i) => Math.max(...lines.map((cells) => cells[i]?.length ?? 0)))
  const pad = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  const [header = [], ...body] = lines
  console.log([pad(header), pad(rule), ...body.map(pad)].join('\n'))
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
  for (const { text, verdict, isBar } of bars)
    console.log(`${isBar ? 'bar ' : 'next'} ${verdict.toUpperCase()}: ${text}`)
  for (const complaint of complaints) console.log(`WRONG: ${complaint}`)
}
