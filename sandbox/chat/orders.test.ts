import { expect, test } from 'bun:test'
import { orderOf, valueIn } from './orders.ts'

test.each([
  ['Reply with exactly PONG', 'PONG'],
  ['Reply with exactly HELLO and nothing else. Stream it one character at a time.', 'HELLO'],
  ['reply with exactly: Hello, world!', 'Hello, world!'],
  ['Please answer with exactly the word "yes".', 'yes'],
  ['Respond with exactly one word: maple', 'maple'],
  ['Say OK and nothing else', 'OK'],
  ['Say the phrase blue moon, nothing else.', 'blue moon'],
  ['Remember: my code = 123. Reply OK', 'OK'],
  ['ping: answer with OK', 'OK'],
  ['Reply with OK only.', 'OK'],
  ["Answer only 'ready to go'", 'ready to go'],
  ['Output exactly the following text: a b c', 'a b c'],
  ['First line\nReply with exactly second', 'second'],
])('%s', (text, said) => {
  expect(orderOf(text)).toEqual({ kind: 'literal', text: said })
})

test.each([
  ['What was my code? Reply with just the number.', 'number'],
  ['Repeat only the number.', 'number'],
  ['Answer with only the result', 'result'],
  ['Reply with just the launch code.', 'code'],
])('%s', (text, what) => {
  expect(orderOf(text)).toEqual({ kind: 'value', what })
})

test.each([
  'Say hello in exactly 3 words.',
  'Answer with exactly one word.',
  'Reply with exactly two sentences',
  'Respond in JSON only',
  'Reply with JSON',
  'Answer with one JSON object and nothing else, no code fence around it.',
  'Answer YES or NO: is it raining?',
  'Write exactly 5 tokens',
  'How is it in Oslo?',
  'Reply with a poem and nothing else',
])('%s is no order of this kind', (text) => {
  expect(orderOf(text)).toBeUndefined()
})

test('a bare value', () => {
  expect(valueIn('{"result":42}', 'number')).toBe('42')
  expect(valueIn('The number is four.', 'number')).toBe('four')
  expect(valueIn('Oslo has -7.5 degrees', 'number')).toBe('-7.5')
  expect(valueIn('{"city":"Oslo"}', 'city')).toBe('Oslo')
  expect(valueIn('rain, 4 degrees', 'result')).toBe('rain, 4 degrees')
  expect(valueIn('none', 'number')).toBeUndefined()
})

test('an order is found in bounded time in any text', () => {
  for (const piece of ['reply with exactly ', 'say ', 'reply only with just the ', 'answer "', '\\n', '. ']) {
    const before = process.threadCpuUsage().user
    orderOf(piece.repeat(100_000 / piece.length))
    expect(process.threadCpuUsage().user - before).toBeLessThan(100_000)
  }
})
