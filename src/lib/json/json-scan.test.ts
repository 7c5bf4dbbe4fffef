import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Members } from './json-members.ts'
import { requestScanLimits, scanJson, scanLongJson } from './json-scan.ts'
import { editJson, reviseJson, type Edit } from './json-edit.ts'

const members = (text: string): Members => {
  const scan = scanJson(text, requestScanLimits)
  if (scan.kind !== 'scanned') throw new Error(scan.kind)
  return scan.members
}
const edit = (text: string, edits: Edit[]): string => editJson(text, members(text), edits)

test('a value is replaced and every other byte stays', () => {
  expect(edit('{ "model" : "a" ,"n": 1.0, "seed":12345678901234567890 }', [{ key: 'model', value: '"b"' }])).toBe(
    '{ "model" : "b" ,"n": 1.0, "seed":12345678901234567890 }',
  )
})

test('a removed member takes one comma with it', () => {
  expect(edit('{"a":1,"b":2,"c":3}', [{ key: 'b', value: undefined }])).toBe('{"a":1,"c":3}')
  expect(edit('{"a":1,"b":2}', [{ key: 'a', value: undefined }])).toBe('{"b":2}')
  expect(edit('{"a":1}', [{ key: 'a', value: undefined }])).toBe('{}')
})

test('a new member is added, also to an empty object', () => {
  expect(edit('{"a":1}', [{ key: 'b', value: '2' }])).toBe('{"b":2,"a":1}')
  expect(edit('{}', [{ key: 'b', value: '2' }])).toBe('{"b":2}')
})

test('names inside strings and nested objects are not members', () => {
  const text = '{"x":"\\"model\\":1","y":{"model":2},"model":3}'
  expect(edit(text, [{ key: 'model', value: '4' }])).toBe('{"x":"\\"model\\":1","y":{"model":2},"model":4}')
})

test('depth and size are bounded', () => {
  expect(scanJson('['.repeat(65) + ']'.repeat(65), requestScanLimits).kind).toBe('too_deep')
  expect(scanJson(`[${'"",'.repeat(200_001)}""]`, requestScanLimits).kind).toBe('too_many_nodes')
  expect(scanJson('{"a":"', requestScanLimits).kind).toBe('malformed')
})

test('members are counted for each object', () => {
  const kindOf = (text: string): string => scanJson(text, { ...requestScanLimits, membersMax: 3 }).kind
  const three = '{"a":1,"b":{"a":1,"b":[{"a":1,"b":2,"c":3}],"c":3},"c":":{"}'
  expect([kindOf(three), kindOf(`[${three},${three}]`)]).toEqual(['scanned', 'scanned'])
  expect(kindOf(three.replace('"c":3}', '"c":3,"d":4}'))).toBe('too_many_nodes')
  expect(kindOf(three.replace('":{"}', '":{","d":4}'))).toBe('too_many_nodes')
})

test('slow parts are bounded: escapes, characters outside of strings, long names', () => {
  const { escapesMax, bareMax, keyCharsMax } = requestScanLimits
  const kindOf = (text: string): string => scanJson(text, requestScanLimits).kind
  expect(kindOf(`{"a":"${'\\n'.repeat(escapesMax)}"}`)).toBe('scanned')
  expect(kindOf(`{"a":"${'\\n'.repeat(escapesMax + 1)}"}`)).toBe('too_dense')
  expect(kindOf(`{"a":"${'\\\\'.repeat(escapesMax)}"}`)).toBe('scanned')
  expect(kindOf(`{"a":${'1'.repeat(bareMax)}}`)).toBe('too_dense')
  expect(kindOf(`{${' '.repeat(bareMax)}"a":1}`)).toBe('too_dense')
  expect(kindOf(`{"${'k'.repeat(keyCharsMax)}":1}`)).toBe('key_too_long')
  expect(kindOf(`{"a":{"${'k'.repeat(keyCharsMax)}":1}}`)).toBe('scanned')
})

test('long runs of blanks and digits are skipped in one step, counted exactly, and hide nothing', () => {
  const bare = (chars: number, at: 'inside' | 'before' | 'behind'): string => {
    const run = ' '.repeat(chars)
    return { inside: `{${run}"a":1}`, before: `${run}{"a":1}`, behind: `{"a":1}${run}` }[at]
  }
  for (const at of ['inside', 'before', 'behind'] as const) {
    for (let chars = 50; chars < 90; chars++) {
      const text = bare(chars, at)
      expect(edit(text, [{ key: 'a', value: '2' }])).toBe(text.replace('1', '2'))
      // The name with its quotes counts as one.
      const exact = text.length - 2
      expect(scanJson(text, { ...requestScanLimits, bareMax: exact }).kind).toBe('scanned')
      expect(scanJson(text, { ...requestScanLimits, bareMax: exact - 1 }).kind).toBe('too_dense')
    }
  }
  expect(scanJson(`{"a":[${'1'.repeat(100)}`, requestScanLimits).kind).toBe('malformed')
  expect(scanJson(`{"a":${'1'.repeat(100)},${' '.repeat(100)}"a":2}`, requestScanLimits).kind).toBe('repeated_key')
})

test('a repeated key is refused: two parsers could read two different requests', () => {
  expect(scanJson('{"model":"a","model":"b"}', requestScanLimits).kind).toBe('repeated_key')
  expect(scanJson('{"model":"a","\\u006dodel":"b"}', requestScanLimits).kind).toBe('repeated_key')
})

test('equal names are found among any number and in any spelling, and all members are found by their names', () => {
  const escaped = (name: string): string =>
    name.replaceAll(/[^]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const name = fc.oneof(fc.constantFrom('a', 'b', 'model', 'mode', 'messages', '__proto__', ''), fc.string())
  const property = fc.property(fc.array(fc.tuple(name, fc.boolean()), { maxLength: 40 }), (named) => {
    const names = named.map(([one]) => one.replaceAll(/[^ -~]/g, ''))
    const written = names.map((one, i) => (named[i]?.[1] ? `"${escaped(one)}"` : JSON.stringify(one)))
    const text = `{${written.map((one, i) => ` ${one} : ${i} `).join(',')}}`
    const scan = scanJson(text, requestScanLimits)
    expect(scan.kind).toBe(new Set(names).size < names.length ? 'repeated_key' : 'scanned')
    if (scan.kind !== 'scanned') return
    for (const [i, one] of names.entries()) {
      const found = scan.members.get(one)
      expect([one, found && text.slice(found.start, found.end)]).toEqual([one, String(i)])
    }
    expect(scan.members.has('no such')).toBe(names.includes('no such'))
    expect([...scan.members].map(([one]) => one)).toEqual(names)
  })
  fc.assert(property, { numRuns: 3_000 })
})

test('an edit takes effect even if the scan fails', () => {
  const text = '{"model":"a","x":1,"model":"b"}'
  const edits = [{ key: 'model', value: '"c"' }]
  expect(JSON.parse(reviseJson(text, edits, requestScanLimits))).toEqual({ model: 'c', x: 1 })
})

test('a value before everything nested is replaced without a scan, and a doubtful one is left to the scan', () => {
  const revised = (text: string): string =>
    reviseJson(text, [{ key: 'model', value: '"new"' }], { ...requestScanLimits, nodesMax: 0 })
  const texts: [string, string][] = [
    // The limits refuse everything, which shows that there is no scan.
    [
      '{ "id":"x, y", "model" : "a\\"b" ,"n": 1.0,"x":[{"y":1}]}',
      '{ "id":"x, y", "model" : "new" ,"n": 1.0,"x":[{"y":1}]}',
    ],
    ['{"model":"","seed":12345678901234567890}', '{"model":"new","seed":12345678901234567890}'],
    ['{"x":"\\"model\\":","n":1.0,"model":"a"}', '{"x":"\\"model\\":","n":1.0,"model":"new"}'],
    // The text is written anew, because the scan fails. The blanks show it, and numbers stay unchanged.
    ['{"x":{"model":"inner"},"model":"a","n": 1.0}', '{"x":{"model":"inner"},"model":"new","n":1.0}'],
    ['{"x":["model"],"n": 1.0,"model":"a"}', '{"x":["model"],"n":1.0,"model":"new"}'],
    ['{"object":"model","n": 1.0,"model":"a"}', '{"object":"model","n":1.0,"model":"new"}'],
    ['{"x":" ,\\"model","n": 1.0}', '{"x":" ,\\"model","n":1.0,"model":"new"}'],
    ['{"x":"{","n": 1.0,"mod\\u0065l":"a"}', '{"x":"{","n":1.0,"model":"new"}'],
    ['{"model":"a","n": 1.0,"mod\\u0065l":"b"}', '{"model":"new","n":1.0}'],
    ['{"model":"a","n": 1.0,"model":"b"}', '{"model":"new","n":1.0}'],
    ['{"model":{"id": 1.0}}', '{"model":"new"}'],
    ['{"n": 1.0}', '{"n":1.0,"model":"new"}'],
  ]
  for (const [text, expected] of texts) expect(revised(text)).toBe(expected)
})

const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 })

test('edits of any text give the same as edits of the parsed object', () => {
  const change = fc.record({ key: fc.string(), value: fc.option(fc.jsonValue({ maxDepth: 1 }), { nil: undefined }) })
  const property = fc.property(object, fc.array(change, { maxLength: 4 }), fc.nat(3), (value, changes, indent) => {
    const text = JSON.stringify(value, null, indent)
    const keys = Object.keys(value)
    const edits = changes.map(({ key, value: next }, i) => ({
      key: i < keys.length && i % 2 === 0 ? (keys[i] ?? key) : key,
      value: next === undefined ? undefined : JSON.stringify(next),
    }))
    const unique = edits.filter(({ key }, i) => edits.findIndex((other) => other.key === key) === i)
    const expected = new Map(Object.entries(value).map(([key, member]) => [key, JSON.stringify(member)]))
    for (const { key, value: next } of unique) {
      if (next === undefined) expected.delete(key)
      else expected.set(key, next)
    }
    for (const edited of [edit(text, unique), reviseJson(text, unique, requestScanLimits)]) {
      const entries = Object.entries(JSON.parse(edited) as object)
      expect(new Map(entries.map(([key, member]) => [key, JSON.stringify(member)]))).toEqual(expected)
    }
  })
  fc.assert(property, { numRuns: 2_000 })
})

test('a scan that pauses finds the same as one without pauses, with other scans in between', async () => {
  const limits = { ...requestScanLimits, depthMax: 3, nodesMax: 12, commasMax: 9, membersMax: 4, bareMax: 300 }
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '7',
    '"a":',
    '"b":1,',
    '{"c":[',
    '1'.repeat(70),
    ' '.repeat(100),
  )
  const whole = fc.oneof(object, fc.array(fc.jsonValue({ maxDepth: 2 }))).map((value) => JSON.stringify(value, null, 1))
  const text = fc.oneof(
    whole,
    fc.array(piece).map((pieces) => pieces.join('')),
  )
  const property = fc.asyncProperty(text, text, fc.integer({ min: 1, max: 40 }), async (one, other, turnChars) => {
    const both = await Promise.all([one, other].map((each) => scanLongJson(each, limits, turnChars)))
    expect(both).toEqual([one, other].map((each) => scanJson(each, limits)))
  })
  await fc.assert(property, { numRuns: 2_000 })
})
