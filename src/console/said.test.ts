/** Other languages have a text for every message of the server. The server's tables are the list. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { operationRefusals as ofOperations, things } from '../admin/refusals.ts'
import { operationRules, shapes } from '../admin/rules.ts'
import { consoleRefusals as ofConsole } from './refusals.ts'
import { optionFaults } from '../catalog/provider-options.ts'
import { modelKinds } from '../domain/catalog.ts'
import { defaultModelLimits } from '../domain/model-limits.ts'
import { videoFaults, videoStages } from '../domain/video-task.ts'
import { failureCodes } from '../formats/core/openai-failure.ts'
import { bookChecks } from '../gateway.ts'
import { ownReasons } from '../ledger/system-reasons.ts'
import { urlFaults } from '../outbound/guard.ts'
import { skips } from '../prices/skips.ts'
import { en } from '../../web/src/lib/i18n/en.ts'
import type { SaidWords } from '../../web/src/lib/i18n/said.ts'
import { retell, sayings, zh } from '../../web/src/lib/i18n/zh.ts'

type Table = Readonly<Record<string, string>>

const refusals: Table = { ...ofOperations, ...ofConsole, ...operationRules, ...shapes }
const factsIn = (sentence: string): readonly string[] =>
  [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
const reasonsIn = (words: SaidWords): readonly string[] => Object.keys(words).filter((name) => !name.includes(':'))
const isChinese = (text: string | undefined): boolean => /\p{Script=Han}/u.test(text ?? '')

/** Every sentence has a translation with the same facts, and there are no other translations. */
function expectWords(words: SaidWords, table: Table, given: readonly string[] = []): void {
  expect(reasonsIn(words).toSorted()).toEqual(Object.keys(table).toSorted())
  for (const [reason, sentence] of Object.entries(table)) {
    expect([reason, isChinese(words[reason])]).toEqual([reason, true])
    const known = [...factsIn(sentence), ...given]
    expect([reason, factsIn(words[reason] ?? '').filter((name) => !known.includes(name))]).toEqual([reason, []])
  }
}

test('no two tables have different sentences for one reason', () => {
  const all = [ofOperations, ofConsole, operationRules, shapes].flatMap((table: Table) => Object.entries(table))
  expect(all.filter(([reason, sentence]) => refusals[reason] !== sentence)).toEqual([])
})

test('refusals have translations', () => {
  expectWords(sayings.refusals, refusals, ['param', 'fault'])
})

test('facts that are words have translations', () => {
  const facts = [
    ...things.map((thing) => `what:${thing}`),
    ...[...Object.keys(urlFaults), ...Object.keys(optionFaults)].map((fault) => `fault:${fault}`),
    ...['hour', 'day'].map((step) => `step:${step}`),
    ...modelKinds.map((kind) => `kind:${kind}`),
  ]
  expect(facts.filter((name) => !isChinese(sayings.refusals[name]))).toEqual([])
})

test('errors of the public API and of its documentation have translations', () => {
  const errors = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  const documented = [...errors.matchAll(/^### (\w+)$/gm)].map(([, code]) => code ?? '')
  const codes = [...new Set([...failureCodes, ...documented])]
  expectWords(sayings.gateway, Object.fromEntries(codes.map((code) => [code, ''])), ['param'])
})

test('findings of a verification and their states have translations', () => {
  const table = (sentence: 'invariant' | 'found'): Table =>
    Object.fromEntries(bookChecks('run_1', true).map(({ code, [sentence]: words }) => [code, words]))
  expectWords(sayings.invariants, table('invariant'))
  expectWords(sayings.findings, table('found'))
  const states = ['open', 'settled', 'released', 'expired', 'none'].map((state) => `state:${state}`)
  const names = [...states, ...videoStages.map((stage) => `stage:${stage}`)]
  expect(names.filter((name) => !isChinese(sayings.findings[name]))).toEqual([])
  expect(retell('findings', { reason: 'task_hold', facts: { stage: 'failed', state: 'settled' } })).toBe(
    '失败，预扣 已结算',
  )
})

test('skips of an import and the limits that it may change have translations', () => {
  expectWords(sayings.skips, skips)
  const limits = Object.keys(defaultModelLimits).map((name) => `prices.limit.${name}` as keyof typeof en)
  expect(limits.filter((key) => !en[key] || !isChinese(zh[key]))).toEqual([])
})

test('failures of videos have translations', () => {
  expectWords(sayings.videos, videoFaults)
})

test('automatic reasons of bookings have translations', () => {
  expectWords(sayings.bookings, ownReasons)
})

const told = (reason: string, facts = {}): string | undefined => retell('refusals', { reason, facts })

test('facts are put into the text, translated if they are words', () => {
  expect(told('account_taken', { name: 'acme' })).toBe('账户“acme”已存在。')
  expect(told('none_named', { what: 'provider', name: 'provider' })).toBe('没有名为“provider”的供应商。')
  expect(told('too_small', { param: 'limits.requests_per_minute', min: 1 })).toBe('每分钟请求数：不能小于 1。')
  expect(told('too_large', { param: 'of.no.such', max: 1_000_000 })).toBe('of.no.such：不能大于 1,000,000。')
  expect(told('missing', { param: '' })).toBe('输入：必填。')
  expect(told('account_taken', { name: '{what} $& {name}' })).toBe('账户“{what} $& {name}”已存在。')
})

test('an unknown reason has no translation, and neither has a member of every object', () => {
  expect(told('never_heard_of')).toBeUndefined()
  expect(told('toString')).toBeUndefined()
  expect(told('what:account')).toBeUndefined()
  expect(retell('refusals', {})).toBeUndefined()
})
