import { expect, test } from 'bun:test'
import { toldOf } from './failure.ts'

test('a record keeps our words of a failure, and of what an upstream said its status and code alone', () => {
  const message = 'it went wrong'
  expect(toldOf({ kind: 'network', message })).toEqual({ message })
  expect(toldOf({ kind: 'garbage', status: 200, message })).toEqual({ status: 200, message })
  expect(toldOf({ kind: 'network', message: 'x'.repeat(1_000) }).message).toHaveLength(200)
  // Whatever comes with them.
  expect(toldOf({ kind: 'server', message, isQuoted: true })).toEqual({})
  expect(toldOf({ kind: 'timeout', message, isQuoted: true })).toEqual({})
  expect(toldOf({ kind: 'bad_request', status: 400, code: 'c', message, isQuoted: true })).toEqual({
    status: 400,
    code: 'c',
  })
  // Ours beside a status may have a word of the answer in it: why a prompt was blocked, say.
  expect(toldOf({ kind: 'policy', status: 200, message })).toEqual({ status: 200 })
})
