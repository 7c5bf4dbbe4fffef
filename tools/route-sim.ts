/**
 * bun tools/route-sim.ts [--seed N] [--requests N] [--records FILE]: simulates routing policies, draws the pictures of
 * docs/routing.md, and prints the figures. With records, it only prints the figures of that traffic. The same seed
 * makes the same bytes. tools/route-sim.test.ts runs a short form.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SECOND_MS } from '../src/lib/primitives/units.ts'
import { drawBars, drawShares } from './route-sim/drawing.ts'
import { figuresOf, sharesOverTime } from './route-sim/figures.ts'
import {
  comingAndGoing,
  conversations,
  dearOffer,
  faultyVendor,
  slowOffer,
  stickyOffers,
  trafficsOf,
  vendorNames,
  type ByPolicy,
  type Traffic,
} from './route-sim/scenarios.ts'
import { readTraffic } from './route-sim/traffic.ts'

const USAGE = `npm run route-sim -- [--seed N] [--requests N] [--records FILE]
Without FILE it writes the pictures of docs/routing.md anew. A line of FILE is a JSON object with at_ms, input_tokens,
output_tokens and, if you like, conversation.`

const values = optionsOf()
const size = { seed: Number(values.seed), requests: Number(values.requests), perSecond: 20 }
if (!Number.isInteger(size.seed) || !(size.requests > 0)) stop('--seed and --requests must be whole numbers')

function optionsOf() {
  try {
    const options = {
      seed: { type: 'string', default: '1' },
      requests: { type: 'string', default: '12000' },
      records: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    } as const
    const { values: given } = parseArgs({ options })
    if (!given.help) return given
    console.log(USAGE)
    process.exit(0)
  } catch (error) {
    return stop(`${(error as Error).message}\n\n${USAGE}`)
  }
}

function stop(why: string): never {
  console.error(`route-sim: ${why}`)
  process.exit(2)
}

function recordsIn(file: string): Traffic {
  try {
    const requests = readTraffic(readFileSync(file, 'utf8'))
    return requests.length > 0 ? { name: file, requests } : stop(`${file} has no requests`)
  } catch (error) {
    return stop(`${file}: ${(error as Error).message}`)
  }
}

function printRecords(traffic: Traffic): void {
  printTraffic(traffic)
  if (traffic.requests.every(({ conversation }) => conversation === undefined)) return
  print(`Conversations keep to one of three equal vendors (${traffic.name})`, stickyOffers(traffic, size.seed))
}

const folder = join(import.meta.dir, '..', 'docs', 'images', 'routing')
const ms = (value: number): string => `${Math.round(value)} ms`
const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`

function print(title: string, figures: ByPolicy): void {
  console.log(`\n${title}`)
  for (const [name, one] of Object.entries(figures)) {
    const times = `p50 ${ms(one.p50Ms)}, p95 ${ms(one.p95Ms)}, p99 ${ms(one.p99Ms)}`
    const calls = `answered ${percent(one.answered)}, calls ${one.callsPerRequest.toFixed(3)}`
    const rest = `$${one.costUsd.toFixed(2)}, cache hits ${percent(one.cacheHits)}, moved in vain ${percent(one.movedInVain)}`
    console.log(`  ${name.padEnd(12)} ${times}, ${calls}, ${rest}`)
  }
}

function printTraffic(traffic: Traffic): void {
  const { name } = traffic
  print(`One of three vendors is 2.5 times slower (${name})`, slowOffer(traffic, size.seed))
  print(`One of three vendors costs nine times as much (${name})`, dearOffer(traffic, size.seed))
  for (const policy of ['weighted', 'latency', 'balanced'] as const) {
    print(`One of three vendors has a fault: ${policy} (${name})`, faultyVendor(traffic, policy, size.seed))
  }
}

const write = (name: string, picture: string): void => writeFileSync(join(folder, `${name}.svg`), picture)

function drawTimes([traffic]: readonly Traffic[]): void {
  if (!traffic) return
  const slow = slowOffer(traffic, size.seed)
  const title = 'Time to the first event; one of three vendors is 2.5 times slower'
  const bars = Object.entries(slow).map(([label, { p50Ms, p95Ms }]) => ({ label, values: [p50Ms, p95Ms] }))
  write('slow-offer', drawBars({ title, series: ['p50', 'p95'], bars, shown: ms }))
  const dear = dearOffer(traffic, size.seed)
  const costs = Object.entries(dear).map(([label, { costUsd }]) => ({ label, values: [costUsd] }))
  const dearTitle = 'Cost; one of three vendors is nine times dearer'
  write(
    'dear-offer',
    drawBars({ title: dearTitle, series: ['cost'], bars: costs, shown: (usd) => `$${usd.toFixed(2)}` }),
  )
  const faults = ['weighted', 'latency'].map((policy) =>
    faultyVendor(traffic, policy as 'weighted' | 'latency', size.seed),
  )
  const faultBars = Object.keys(faults[0] ?? {}).map((label) => ({
    label,
    values: faults.map((figures) => Math.min(8_000, figures[label]?.p99Ms ?? 0)),
  }))
  const shown = (value: number): string => (value >= 8_000 ? 'over 8 s' : ms(value))
  const faultTitle = 'p99 of the time to the first event, if one of three vendors has a fault'
  write('faults', drawBars({ title: faultTitle, series: ['weighted', 'latency'], bars: faultBars, shown }))
}

function drawConversations(): void {
  const figures = conversations(size)
  print('Sessions of coding agents', figures)
  const bars = Object.entries(figures).map(([label, { cacheHits }]) => ({ label, values: [cacheHits] }))
  const title = 'Requests of coding agents that find their conversation in the prompt cache'
  write('cache-hits', drawBars({ title, series: ['hits'], bars, shown: percent }))
  const coming = Object.entries(comingAndGoing(size))
  print(
    'The third vendor comes and goes every three minutes',
    Object.fromEntries(coming.map(([policy, outcomes]) => [policy, figuresOf(outcomes)])),
  )
  const rows = coming.map(([label, outcomes]) => ({
    label,
    shares: sharesOverTime(outcomes, vendorNames, 10 * SECOND_MS),
  }))
  const shareTitle = 'Shares of three vendors; the third comes and goes every three minutes'
  write('comes-and-goes', drawShares({ title: shareTitle, names: vendorNames, rows, spanText: 'Time, 10 s a step' }))
}

if (values.records !== undefined) {
  printRecords(recordsIn(values.records))
} else {
  mkdirSync(folder, { recursive: true })
  const traffics = trafficsOf(size)
  for (const traffic of traffics) printTraffic(traffic)
  drawTimes(traffics)
  drawConversations()
}
