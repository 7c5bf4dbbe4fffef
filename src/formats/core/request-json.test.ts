import { expect, test } from 'bun:test'
import { afterScan, scanRequest, type ScannedRequest } from './request-json.ts'

const messageOf = (scanned: ScannedRequest): string | undefined =>
  scanned.kind === 'rejected' ? scanned.failure.message : undefined

test.each([
  ['{"a":1,"a":2}', 'a'],
  ['{"m":[{"url":"x","url":"y"}]}', 'url'],
  ['{"m":[[{"b":{"c":1}},{"b":{"c":{},"c":{}}}]]}', 'c'],
  ['{"m":{"type":1,"t\\u0079pe":2}}', 'type'],
  ['{"m":{"":1,"":2}}', ''],
])('a repeated field is refused at any depth: %s', (text, name) => {
  expect(messageOf(scanRequest(text))).toBe(`The field '${name}' is given more than once.`)
})

test.each([
  '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
  '{"a":"\\"b\\":1,\\"b\\":2"}',
  '{"a:b":1,"a":{"b:":2}}',
  '{"0":1,"1":{"0":1},"m":{"constructor":{"prototype":1},"toString":1}}',
  '{}',
])('different fields pass: %s', (text) => {
  expect(scanRequest(text)).toMatchObject({ kind: 'scanned' })
})

test.each(['{"__proto__":1}', '{"m":[{"a":{"__proto__":{}}}]}', '{"m":{"\\u005f_proto__":1}}'])(
  'a name that would set a prototype is refused: %s',
  (text) => {
    expect(messageOf(scanRequest(text))).toBe("The field name '__proto__' is not allowed.")
  },
)

test('a body that is not JSON is refused', () => {
  for (const text of ['{"a":1,"a":2', '{"a":1,"a":}', '{:1,"a":1,"a":2}', '{"a\\x":1,"a\\x":2}', '[{"a":1,"a":2},]']) {
    expect(scanRequest(text)).toMatchObject({ kind: 'rejected', failure: { kind: 'invalid_json' } })
  }
})

test('an empty body is named as such', () => {
  expect(messageOf(scanRequest(''))).toBe('The body is empty: send a JSON object.')
})

test('a large body is read in several ticks', async () => {
  const text = `{"p":"${'x'.repeat(600_000)}","m":[{"url":"x","url":"y"}]}`
  const read = await afterScan(text, text.length, (scanned) => messageOf(scanned))
  expect(read).toBe('A field is given more than once.')
})
