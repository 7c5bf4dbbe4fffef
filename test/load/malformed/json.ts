/** Bodies that are not JSON, or JSON made to hurt: depth, keys, repetitions, look-alikes, encodings, numbers. */
import fc from 'fast-check'
import { chatText, utf8, VALID, type Case } from './case.ts'

const position = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const MESSAGES = '"messages":[{"role":"user","content":"go"}]'

function parses(text: string): boolean {
  try {
    JSON.parse(Buffer.from(text, 'latin1').toString())
    return true
  } catch {
    return false
  }
}

const cutOff = fc.integer({ min: 1, max: VALID.length - 1 }).map((length) => VALID.slice(0, length))

/** A slip of the pen somewhere; what still parses is cut off instead. */
const slip = fc
  .tuple(
    position,
    fc.constantFrom('', ',', '"', '{', ']', ':', '\\', "'", '\0', '\x1f', '//', '/*', 'NaN'),
    fc.integer({ min: 0, max: 3 }),
  )
  .map(([where, insert, removed]) => {
    const at = Math.floor(where * VALID.length)
    const text = VALID.slice(0, at) + insert + VALID.slice(at + removed)
    return parses(text) ? VALID.slice(0, Math.max(1, at)) : text
  })

const depth = fc
  .tuple(fc.integer({ min: 65, max: 60_000 }), fc.constantFrom('[', '{"a":', '[{"a":'), fc.boolean(), fc.boolean())
  .map(([levels, open, isClosed, isInside]) => {
    const closing = open === '[' ? ']' : open === '[{"a":' ? '}]' : '}'
    const bomb = open.repeat(levels) + (isClosed ? `1${closing.repeat(levels)}` : '')
    return isInside ? `{"model":"plain",${MESSAGES},"x":${bomb}}` : bomb
  })

const keys = fc
  .tuple(fc.integer({ min: 1_001, max: 12_000 }), fc.constantFrom('x', '\\u0061', '__proto__', 'ﬀ', ''))
  .map(([count, prefix]) => {
    const members = Array.from({ length: count }, (_, i) => `"${utf8(prefix)}${i}":${i}`)
    return `{"model":"plain",${MESSAGES},${members.join(',')}}`
  })

const many = fc
  .tuple(fc.constantFrom('[],', '"",', '{},'), fc.integer({ min: 200_001, max: 220_000 }))
  .map(([one, count]) => `{"model":"plain",${MESSAGES},"x":[${one.repeat(count)}0]}`)

const field = fc.constantFrom('model', 'max_tokens', 'n', 'stream', 'messages', 'stream_options', 'tools', 'x')
/** A letter of a name as its escape. */
const escaped = (text: string, where: number): string => {
  const at = Math.floor(where * text.length)
  return `${text.slice(0, at)}\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}${text.slice(at + 1)}`
}
const repeated = fc
  .tuple(field, position, fc.boolean(), fc.constantFrom('1', 'null', '"plain"', '[]', 'true'))
  .map(([name, where, isEscaped, value]) => {
    const again = isEscaped ? escaped(name, where) : name
    return `{"${name}":${value},"model":"plain","max_tokens":4,"n":1,"stream":false,${MESSAGES},"${again}":${value}}`
  })

/** Names that some program reads as one of those that are priced. */
const lookAlike = fc
  .tuple(
    fc.constantFrom('model', 'n', 'max_tokens', 'max_completion_tokens', 'stream', 'stream_options'),
    position,
    fc.constantFrom('upper', 'wide', 'escaped'),
  )
  .map(([name, where, how]) => {
    const chosen = Math.floor(where * name.length)
    const at = name.charAt(chosen) === '_' ? 0 : chosen
    const letter = name.charAt(at)
    const other = how === 'wide' ? String.fromCharCode(letter.charCodeAt(0) + 0xfee0) : letter.toUpperCase()
    const written = how === 'escaped' ? `\\u${other.charCodeAt(0).toString(16).padStart(4, '0')}` : utf8(other)
    const alike = name.slice(0, at) + written + name.slice(at + 1)
    return `{"${alike}":1,"model":"plain",${MESSAGES}}`
  })

const badUtf8 = fc
  .tuple(
    fc.constantFrom(
      '\xff',
      '\xc0\xaf',
      '\xed\xa0\x80',
      '\xed\xb0\x80',
      '\xf4\x90\x80\x80',
      '\x80',
      '\xe2\x82',
      '\xf8\x88\x80\x80\x80',
    ),
    position,
  )
  .map(([bytes, where]) => {
    const at = Math.floor(where * VALID.length)
    return VALID.slice(0, at) + bytes + VALID.slice(at)
  })

const encodings = fc.constantFrom(
  `\xef\xbb\xbf\xef\xbb\xbf${VALID}`,
  Buffer.from(VALID, 'utf16le').toString('latin1'),
  `\xff\xfe${Buffer.from(VALID, 'utf16le').toString('latin1')}`,
  Buffer.from(VALID, 'utf16le').swap16().toString('latin1'),
  `\0${VALID}`,
  `${VALID}\0`,
  `\xef\xbb\xbf`,
  `\xef\xbb\xbf${VALID.slice(0, -1)}`,
)

const digits = fc.integer({ min: 1, max: 20_000 }).map((length) => '9'.repeat(length))
const numbers = fc
  .tuple(
    fc.constantFrom('max_tokens', 'max_completion_tokens', 'n'),
    fc.oneof(
      fc.constantFrom(
        '1e400',
        '-1e400',
        '0',
        '-0',
        '-1',
        '1.5',
        '9007199254740993',
        '1e21',
        '01',
        '+1',
        '.5',
        '1.',
        '1e',
        '0x1',
        'NaN',
      ),
      fc.constantFrom('Infinity', '1_000', '"4"', 'true', '[4]', '{}', '1e-400', '4e-1'),
      digits.map((text) => `${text}99999999999999999`),
      digits.map((text) => `0.1${text}`),
    ),
  )
  .map(([name, number]) => `{"${name}":${number},"model":"plain",${MESSAGES}}`)

const prototypes = fc.constantFrom(
  `{"__proto__":${VALID}}`,
  `{"__proto__":{"model":"plain"},${MESSAGES}}`,
  `{"constructor":{"prototype":${VALID}}}`,
  `{"model":"plain","messages":[{"__proto__":{"role":"user","content":"go"}}]}`,
  `{"model":"plain","messages":{"__proto__":[{"role":"user","content":"go"}],"length":1}}`,
  `{"model":"__proto__",${MESSAGES}}`,
  `{"model":"constructor",${MESSAGES}}`,
  `{"model":"plain","tools":[{"type":"function","__proto__":{"function":{"name":"f"}}}],${MESSAGES}}`,
)
const surrogates = fc
  .constantFrom('\\ud800', '\\udc00', '\\ud800\\ud800', '\\ud800x', '\\uD83D')
  .map((half) => `{"model":"plain${half}",${MESSAGES}}`)
const others = fc.constantFrom(
  '',
  ' ',
  'null',
  'true',
  '1',
  '"text"',
  '[]',
  `[${VALID}]`,
  `${VALID}${VALID}`,
  `${VALID},`,
  `${VALID}]`,
  '{"model":"plain","messages":[{"role":"user","content":"a\nb"}]}',
  `{"model":'plain'}`,
  '{model:"plain"}',
  '{"model":"plain",}',
  '{"a" "b"}',
  '{"\\x":1}',
  '{"\\u12":1}',
)

/** Bodies that must be refused; each kind as likely, but for the large ones. */
export function jsonCases(key: string): fc.Arbitrary<Case> {
  const body = (name: string, text: fc.Arbitrary<string>, weight: number): fc.WeightedArbitrary<Case> => ({
    weight,
    arbitrary: text.map((bytes) => ({ kind: 'request', name, bytes: chatText(key, bytes) })),
  })
  return fc.oneof(
    body('cut off', cutOff, 10),
    body('a slip', slip, 20),
    body('depth', depth, 5),
    body('many keys', keys, 2),
    body('many values', many, 1),
    body('repeated key', repeated, 10),
    body('look-alike key', lookAlike, 10),
    body('not UTF-8', badUtf8, 10),
    body('another encoding', encodings, 5),
    body('number', numbers, 10),
    body('prototype', prototypes, 5),
    body('half a surrogate', surrogates, 5),
    body('not an object', others, 10),
  )
}
