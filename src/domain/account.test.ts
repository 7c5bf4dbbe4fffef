import { expect, test } from 'bun:test'
import { allows } from './account.ts'

test('an allow-list names models by their ids, by aliases, and by wildcards of their ids', () => {
  const model = { id: 'openai/gpt-4.1', aliases: ['gpt-4'] }
  for (const entry of ['openai/gpt-4.1', 'gpt-4', 'openai/*']) expect(allows(['other', entry], model)).toBe(true)
  for (const entry of ['openai/', 'openai/gpt*', '*', 'gpt-4/*', 'openai', 'OPENAI/*', '/*']) {
    expect(allows([entry], model)).toBe(false)
  }
  expect([allows([], model), allows(['*'], { id: '*x' })]).toEqual([false, false])
})
