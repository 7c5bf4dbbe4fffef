import { expect, test } from 'bun:test'
import { command } from './command.ts'
import { exitWith } from './outcome.ts'
import { parseCommand } from './parse.ts'
import { dollars, list, text, wholeNumber } from './values.ts'

const pay = command({
  name: 'pay',
  summary: 'Pays.',
  examples: [['tollgate pay acme 1.00 --reason x']],
  positionals: [
    { name: 'to', summary: 'whom', value: text('TO') },
    { name: 'amount', summary: 'how much', value: dollars },
    { name: 'rest', summary: 'more', value: text('MORE'), takes: 'many' },
  ],
  options: {
    reason: { summary: 'why', value: text('TEXT'), takes: 'needed' },
    tag: { summary: 'tags', value: list, takes: 'many' },
    times: { summary: 'times', value: wholeNumber('N', { min: 1, max: 9 }) },
    fast: { summary: 'fast' },
    key: { refused: 'never in argv' },
  },
  run: () => Promise.resolve(exitWith(0)),
})

const wrong = (...argv: string[]): string => {
  const parsed = parseCommand(pay, argv)
  return parsed.kind === 'wrong' ? parsed.message : `not wrong but ${parsed.kind}`
}

test('words and options are read in any order', () => {
  const parsed = parseCommand(pay, ['--fast', 'acme', '--reason=a=b', '2.50', '--tag', 'x', 'more', '--tag', 'y'])
  expect(parsed).toMatchObject({
    kind: 'parsed',
    args: { to: 'acme', amount: '2.50', rest: ['more'] },
    options: { reason: 'a=b', tag: ['x', 'y'], fast: true, json: false },
  })
})

test('what follows -- is never an option', () => {
  expect(parseCommand(pay, ['--reason', 'r', '--', 'acme', '1', '--fast'])).toMatchObject({
    args: { rest: ['--fast'] },
    options: { fast: false },
  })
})

test('help takes precedence over every mistake', () => {
  expect(parseCommand(pay, ['--nonsense', '-h'])).toEqual({ kind: 'help' })
  expect(parseCommand(pay, ['--version'])).toEqual({ kind: 'version' })
})

test('each mistake is named', () => {
  const good = ['acme', '1.00', '--reason', 'r']
  expect(wrong(...good, '--raeson', 'r')).toBe('pay: unknown option --raeson; did you mean --reason?')
  expect(wrong(...good, '--zzzzzz')).toBe('pay: unknown option --zzzzzz')
  expect(wrong('acme', '1.00')).toBe('pay: --reason is needed')
  expect(wrong('acme', '--reason', 'r')).toBe('pay: AMOUNT is missing')
  expect(wrong('acme', '1,5', '--reason', 'r')).toContain("AMOUNT must be dollars above zero, such as 25.00, not '1,5'")
  expect(wrong(...good, '--reason', 'twice')).toContain('--reason is given twice')
  expect(wrong(...good, '--times')).toContain('--times needs a value')
  expect(wrong(...good, '--times', '--fast')).toContain('--times needs a value')
  expect(wrong(...good, '--times', '10')).toContain("--times must be a whole number from 1 to 9, not '10'")
  expect(wrong(...good, '--fast=yes')).toContain('--fast takes no value')
  expect(wrong('acme', '1.00', '--reason', '')).toBe('pay: --reason must not be empty')
})

test('a refused option explains itself and does not repeat its value', () => {
  expect(wrong('acme', '1.00', '--reason', 'r', '--key', 'secret')).toBe('pay: never in argv')
})

test('a refused option is not suggested', () => {
  expect(wrong('acme', '1.00', '--reason', 'r', '--kez')).toBe('pay: unknown option --kez')
})
