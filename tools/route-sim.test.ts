/** A short form of the simulator of docs/routing.md, with the same bars. */
import { expect, test } from 'bun:test'
import { drawBars } from './route-sim/drawing.ts'
import { figuresOf } from './route-sim/figures.ts'
import { comingAndGoing, conversations, dearOffer, faultyVendor, slowOffer, trafficsOf } from './route-sim/scenarios.ts'
import { readTraffic } from './route-sim/traffic.ts'

// The bars are of shares, and chance can miss one: of 60 seeds, one moved 2.5 % of its conversations while `latency`
// took an offer for twice as slow. So the seed is the same in every run unless one is named.
const size = { seed: Number(process.env['TOLLGATE_SEED'] ?? 1), requests: 3_000, perSecond: 20 }
const said = `seed ${size.seed}`
const traffics = trafficsOf(size)

test('latency takes a third from the p95 of the first event if one of three vendors is slow', () => {
  for (const traffic of traffics) {
    const { weighted, latency } = slowOffer(traffic, size.seed)
    expect([said, (latency?.p95Ms ?? 1) / (weighted?.p95Ms ?? 1) <= 0.7]).toEqual([said, true])
  }
})

test('cost takes two fifths from the cost if one of three vendors is dear', () => {
  for (const traffic of traffics) {
    const { weighted, cost } = dearOffer(traffic, size.seed)
    expect([said, (cost?.costUsd ?? 1) / (weighted?.costUsd ?? 1) <= 0.6]).toEqual([said, true])
  }
})

test('a fault of one of three vendors costs nearly nothing', () => {
  const [traffic] = traffics
  for (const policy of ['latency', 'balanced'] as const) {
    const { healthy, ...faulty } = traffic ? faultyVendor(traffic, policy, size.seed) : {}
    expect(Object.keys(faulty)).toHaveLength(4)
    for (const [fault, { answered, callsPerRequest, p99Ms }] of Object.entries(faulty)) {
      const bars = [answered >= 0.999, callsPerRequest <= 1.2, p99Ms <= 1.5 * (healthy?.p99Ms ?? 0)]
      expect([said, policy, fault, ...bars]).toEqual([said, policy, fault, true, true, true])
    }
  }
})

test('nine of ten requests of a conversation find its cache', () => {
  const { 'not sticky': hopping, ...sticky } = conversations(size)
  expect(hopping?.cacheHits).toBeLessThan(0.6)
  for (const [policy, { cacheHits }] of Object.entries(sticky)) {
    expect([said, policy, cacheHits >= 0.9]).toEqual([said, policy, true])
  }
})

test('an offer that comes and goes takes its own conversations along, and no other', () => {
  for (const [policy, outcomes] of Object.entries(comingAndGoing({ ...size, perSecond: 4 }))) {
    const { movedInVain, cacheHits, answered } = figuresOf(outcomes)
    const bars = [movedInVain <= 0.005, cacheHits >= 0.9, answered >= 0.999]
    expect([said, policy, ...bars]).toEqual([said, policy, true, true, true])
  }
})

test('recorded traffic is read by line, and a bad line is named', () => {
  const lines = '{"at_ms":9,"input_tokens":1,"output_tokens":2}\n{"at_ms":3,"input_tokens":1,"output_tokens":2}\n\n'
  expect(readTraffic(lines).map(({ atMs }) => atMs)).toEqual([3, 9])
  expect(() => readTraffic('{"at_ms":"soon"}')).toThrow('at_ms')
})

test('a picture is the same for the same figures', () => {
  const chart = { title: 'a < b', series: ['x'], bars: [{ label: 'y', values: [1] }], shown: String }
  expect(drawBars(chart)).toBe(drawBars(chart))
  expect(drawBars(chart)).toContain('a &lt; b')
})
