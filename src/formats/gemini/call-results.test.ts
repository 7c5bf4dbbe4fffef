import { expect, test } from 'bun:test'
import { callsOfResults } from './call-results.ts'
import { geminiFamilyOf } from '../../vendors/gemini-families.ts'
import { withoutStrangers } from './lawful.ts'
import { withoutCallIds } from './nameless-calls.ts'

test('a result belongs to the call with its id, or else to the next call of its name', () => {
  const calls = [{ id: 'a', name: 'f' }, { id: 'b', name: 'g' }, { name: 'f' }, { id: 'a', name: 'f' }]
  const results = [{ name: 'f' }, { id: 'a', name: 'f' }, { id: 'z', name: 'g' }, { id: 'a', name: 'f' }, { name: 'h' }]
  expect(callsOfResults(calls, results)).toEqual([2, 0, 1, 3, undefined])
})

test('the time for thousands of calls and results in any order grows with their number', () => {
  const count = 5_000
  const calls = Array.from({ length: count }, (_, i) => ({ functionCall: { id: `c${i}`, name: 'f', args: {} } }))
  const response = { output: 'r' }
  const results = calls
    .map(({ functionCall: { id, name } }) => ({ functionResponse: { id, name, response } }))
    .toReversed()
  const contents = [
    { role: 'model', parts: calls },
    // The last call has no result.
    { role: 'user', parts: results.slice(1) },
  ]
  const text = JSON.stringify({ contents })
  const before = process.cpuUsage()
  const answered = withoutStrangers(text, geminiFamilyOf('gemini-3-pro'))
  const nameless = withoutCallIds(answered)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(2_000)
  expect(answered.match(/functionResponse/g)).toHaveLength(count)
  expect(nameless).not.toContain('"id"')
})
