import { expect, test } from 'bun:test'
import { createLog, writerTo } from './log.ts'

/** A pipe whose reader can stop. */
class Pipe {
  lines = 0
  stuck = false
  private readonly drains: (() => void)[] = []

  write(text: string): boolean {
    this.lines += text.split('\n').length - 1
    return !this.stuck
  }

  on(_: string, drained: () => void): this {
    this.drains.push(drained)
    return this
  }

  goOn(): void {
    this.stuck = false
    for (const drained of this.drains) drained()
  }
}

test('unread text is bounded, and the lost amount is reported when the reader goes on', () => {
  const pipe = new Pipe()
  const texts: string[] = []
  const write = writerTo({
    write: (text: string) => {
      texts.push(text)
      return pipe.write(text)
    },
    on: (name: string, drained: () => void) => pipe.on(name, drained),
  } as unknown as NodeJS.WriteStream)
  const log = createLog('info', write)
  pipe.stuck = true
  const fields = { words: 'x'.repeat(4_000) }
  for (let i = 0; i < 10_000; i++) log('error', 'one', fields)
  expect(pipe.lines).toBeGreaterThan(3_500)
  expect(pipe.lines).toBeLessThan(4_500)
  const lost = 10_000 - pipe.lines
  pipe.goOn()
  expect(JSON.parse(texts.at(-1) ?? '')).toMatchObject({ level: 'error', event: 'log.lost', lines: lost })
  log('error', 'two')
  expect(JSON.parse(texts.at(-1) ?? '')).toMatchObject({ event: 'two' })
  pipe.goOn()
  expect(JSON.parse(texts.at(-1) ?? '')).toMatchObject({ event: 'two' })
})

test('a line cannot control a terminal, and loses nothing', () => {
  const texts: string[] = []
  const words = 'a\u202eb\x1b[2J\x9bc\u2066\n'
  createLog('info', (text) => texts.push(text))('error', 'one', { words })
  const [line = ''] = texts
  expect(line).toMatch(/^[\x20-\x7e]+\n$/)
  expect((JSON.parse(line) as { words: string }).words).toBe(words)
})
