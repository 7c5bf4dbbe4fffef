import { expect, test } from 'bun:test'
import { TokenCounter } from './token-counter.ts'

test('words are counted, and text that is hard to tokenize is counted in bounded time', async () => {
  const counter = new TokenCounter()
  const startedMs = performance.now()
  const [words, monster] = await counter.count(
    ['The quick brown fox jumps over the lazy dog.', 'a'.repeat(300_000)],
    'a',
  )
  expect(words).toBe(10)
  expect(monster).toBeGreaterThan(10_000)
  expect(performance.now() - startedMs).toBeLessThan(20_000)
  counter.stop()
})

test('a job that waits when the counter stops gets a rough count', async () => {
  const counter = new TokenCounter()
  const counting = counter.count(['four', 'x'.repeat(400)], 'a')
  counter.stop()
  expect(await counting).toEqual([1, 100])
})

test('a very long text is counted by samples, and the count is close to the exact one', async () => {
  const counter = new TokenCounter()
  const lorem = Array.from({ length: 20_000 }, (_, i) => `Line ${i * 7919} of a log, with {"status": ${i % 600}}.\n`)
  const dense = Array.from({ length: 100_000 }, (_, i) => '#%&*+/<=>?@^|~'[(i * i) % 14]).join('')
  const text = lorem.join('') + dense
  const pieces = Array.from({ length: Math.ceil(text.length / 65_536) }, (_, i) =>
    text.slice(i * 65_536, (i + 1) * 65_536),
  )
  const [exact, [sampled = 0]] = await Promise.all([
    Promise.all(pieces.map((piece) => counter.count([piece], 'a'))).then((all) =>
      all.flat().reduce((a, b) => a + b, 0),
    ),
    counter.count([text], 'a'),
  ])
  expect(Math.abs(sampled / exact - 1)).toBeLessThan(0.1)
  counter.stop()
})

test('charges come before free counts, and accounts take turns', async () => {
  const counter = new TokenCounter()
  const done: string[] = []
  const note = (name: string, counted: Promise<unknown>): Promise<void> => counted.then(() => void done.push(name))
  const text = 'word '.repeat(100)
  await Promise.all([
    note('guess a1', counter.guess(text, 'a')),
    note('guess a2', counter.guess(text, 'a')),
    note('guess a3', counter.guess(text, 'a')),
    note('guess b1', counter.guess(text, 'b')),
    note('charge c1', counter.count([text], 'c')),
    note('charge c2', counter.count([text], 'c')),
    note('charge d1', counter.count([text], 'd')),
  ])
  // The first job was already with the worker.
  expect(done).toEqual(['guess a1', 'charge c1', 'charge d1', 'charge c2', 'guess a2', 'guess b1', 'guess a3'])
  counter.stop()
})

test('a free count uses bounded samples, is close to the exact count, and is always the same', async () => {
  const counter = new TokenCounter()
  const text = Array.from(
    { length: 20_000 },
    (_, i) => `Line ${i * 7919} of a log, with {"status": ${i % 600}}.\n`,
  ).join('')
  const [first, second, [exact = 0]] = await Promise.all([
    counter.guess(text, 'a'),
    counter.guess(text, 'b'),
    counter.count([text], 'a'),
  ])
  expect(second).toBe(first)
  expect(Math.abs(first / exact - 1)).toBeLessThan(0.1)
  counter.stop()
})
