/** deploy/grafana/ and deploy/prometheus/: every metric that they name is one of the program, with its labels. */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { Metrics } from '../../src/edge/metrics.ts'
import type { UpstreamFailureKind } from '../../src/domain/failure.ts'
import type { RequestRecord } from '../../src/records/records.ts'

const ROOT = resolve(import.meta.dir, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** The text of `/metrics` with a sample of everything that the program can show. */
function everyMetric(): string {
  const metrics = new Metrics({
    openHolds: () => 0,
    writesQueued: () => 0,
    liveCalls: () => 0,
    videoTasks: () => 0,
    answerCacheBytes: () => 0,
    connections: () => 0,
    dismissed: () => 0,
    turnedAway: () => 0,
    decoders: { size: 0, memoryBytes: 0, lostInAll: 0 },
    certificateEndMs: () => 0,
    providers: () => [{ id: 'p', isServing: true, offers: 1, resting: 0, restingKeys: 0 }],
    spans: () => ({ sent: 0, dropped: 0 }),
  })
  metrics.answered(200)
  metrics.askedCache('m', 'hit')
  const usage = { inputFresh: 1, inputCached: 0, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 1, outputReasoning: 0 }
  metrics.recorded({
    model: 'm',
    outcome: 'completed',
    usage,
    usageSource: 'estimated',
    charged: 1n,
    upstreamCost: 1n,
    writtenOff: 1n,
    firstEventMs: 1,
    totalMs: 2,
    attempts: [{ offerId: 'o', providerId: 'p', upstreamModel: 'u', result: 'ok', startedMs: 0, tookMs: 1 }],
  } as unknown as RequestRecord)
  return metrics.text('prometheus')
}

/** The labels of each series by its name. */
const series = new Map(
  [...everyMetric().matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)].map(([, name = '', labels = '']) => [
    name,
    [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
  ]),
)
/** Labels that Prometheus adds to each series that it scrapes. */
const added = ['job', 'instance']

/** What is wrong with an expression: series that are not there, and labels that a series has not. */
function faultsOf(expression: string): string[] {
  return [...expression.matchAll(/\b((?:tollgate|process)_[a-z_]+)(?:\{([^}]*)\})?/g)].flatMap(
    ([, name = '', selector = '']) => {
      const labels = series.get(name)
      if (!labels) return [`there is no ${name}`]
      const used = [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label)
      return used.filter((label) => ![...labels, ...added].includes(label)).map((label) => `${name} has no ${label}`)
    },
  )
}

/** Labels that an expression keeps must be those of a series in it. */
const groupedBy = (expression: string): string[] =>
  [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(',').map((one) => one.trim()))

const isClosed = (text: string): boolean => {
  let depth = 0
  for (const char of text.replaceAll(/"[^"]*"/g, '')) {
    if ('([{'.includes(char)) depth++
    if (')]}'.includes(char)) depth--
    if (depth < 0) return false
  }
  return depth === 0
}

function expectGood(expressions: readonly string[]): void {
  expect(expressions.flatMap(faultsOf)).toEqual([])
  expect(expressions.filter((expression) => !isClosed(expression))).toEqual([])
  const known = new Set([...[...series.values()].flat(), ...added])
  expect(expressions.flatMap(groupedBy).filter((label) => !known.has(label))).toEqual([])
}

test('a metric that is not there is found', () => {
  expect(faultsOf('rate(tollgate_live_calls[5m]) + tollgate_requests_total{model="a",outcome=~"b"}')).toEqual([])
  expect(faultsOf('tollgate_nothing + tollgate_live_calls{model="a"}')).toEqual([
    'there is no tollgate_nothing',
    'tollgate_live_calls has no model',
  ])
})

describe('the alert rules', () => {
  type Rule = {
    readonly alert: string
    readonly expr: string
    readonly for?: string
    readonly labels: { readonly severity: string }
    readonly annotations: { readonly summary: string }
  }
  const { groups } = parse(read('deploy/prometheus/alerts.yml')) as { groups: { name: string; rules: Rule[] }[] }
  const rules = groups.flatMap((group) => group.rules)

  test('name metrics of the program', () => expectGood(rules.map(({ expr }) => expr)))

  test('have a name of their own, a severity and a sentence', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { alert, labels, annotations, for: wait = '1m' } of rules) {
      expect(alert).toMatch(/^Tollgate[A-Z]\w+$/)
      expect(['critical', 'warning', 'info']).toContain(labels.severity)
      expect(annotations.summary).toMatch(/\.$/)
      expect(wait).toMatch(/^\d+[smh]$/)
    }
  })
})

/** Whether a result of an attempt is a failure of its provider. */
const blames: Readonly<Record<UpstreamFailureKind, boolean>> = {
  auth: true,
  funds: true,
  model_gone: true,
  rate: true,
  overload: true,
  timeout: true,
  server: true,
  network: true,
  unreachable: true,
  garbage: true,
  bad_request: false,
  context_length: false,
  policy: false,
  unread: false,
}

test('only failures of a provider count against it, and also if it never answers', () => {
  const failures = Object.entries(blames).flatMap(([kind, isBlamed]) => (isBlamed ? [kind] : []))
  for (const file of ['deploy/prometheus/alerts.yml', 'deploy/grafana/tollgate.json']) {
    const compared = [...read(file).matchAll(/result=~\\?"([a-z_|]+)\\?"/g)].map(([, results = '']) =>
      results.split('|'),
    )
    const sets = new Set(compared.map((results) => results.toSorted().join(' ')))
    expect([file, sets]).toEqual([
      file,
      new Set([failures, ['ok', ...failures]].map((all) => all.toSorted().join(' '))),
    ])
  }
})

describe('the dashboard', () => {
  type Panel = {
    readonly id: number
    readonly type: string
    readonly title: string
    readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
    readonly targets?: { readonly expr: string }[]
  }
  type Variable = { readonly name: string; readonly definition?: string }
  const text = read('deploy/grafana/tollgate.json')
  const { panels, templating } = JSON.parse(text) as { panels: Panel[]; templating: { list: Variable[] } }
  const targets = panels.flatMap((panel) => panel.targets ?? []).map(({ expr }) => expr)

  test('names metrics of the program', () => {
    expect(targets.length).toBeGreaterThan(15)
    expectGood(targets)
    expectGood(templating.list.flatMap(({ definition = '' }) => definition.replace(/,[^,]*\)$/, ')')))
  })

  test('shows every metric', () => {
    const shown = [...targets, ...templating.list.map(({ definition = '' }) => definition)].join('\n')
    const elsewhere = [
      'tollgate_tls_certificate_expiry_timestamp_seconds',
      'tollgate_decoders',
      'tollgate_decoders_lost_total',
      'tollgate_provider_offers',
    ]
    const families = [...series.keys()].filter((name) => !/_(?:sum|count)$/.test(name))
    expect(families.filter((name) => !new RegExp(`\\b${name}\\b`).test(shown)).toSorted()).toEqual(elsewhere.toSorted())
  })

  test('uses variables that it has, and places its panels side by side', () => {
    const variables = new Set(templating.list.map(({ name }) => name))
    const used = [...text.matchAll(/\$\{?([a-z]+)\b/g)].map(([, name = '']) => name)
    expect(used.filter((name) => !variables.has(name))).toEqual([])
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const places = panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)
    expect(new Set(places).size).toBe(places.length)
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
  })
})
