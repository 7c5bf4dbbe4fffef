import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TokenCounter } from '../../relay/token-counter.ts'
import { estimateTokens } from './token-estimate.ts'

const root = join(import.meta.dir, '../../..')
const texts = {
  words: 'word '.repeat(8_000),
  english: readFileSync(join(root, 'docs/reliability.md'), 'utf8'),
  code: readFileSync(join(root, 'src/ledger/ledger.ts'), 'utf8'),
  json: readFileSync(join(root, 'docs/openapi.json'), 'utf8').slice(0, 60_000),
  chinese: readFileSync(join(root, 'web/src/lib/i18n/zh/operator.ts'), 'utf8'),
  german: 'Die Zahl der Anfragen, die ein Vermittler in der Minute beantworten kann, hängt von der Leitung ab. '.repeat(
    90,
  ),
}

test('an estimate is within a quarter of what a tokenizer counts, for texts of every kind', async () => {
  const counter = new TokenCounter()
  const counts = await counter.count(Object.values(texts), 'a')
  counter.stop()
  for (const [i, [name, text]] of Object.entries(texts).entries()) {
    const percent = Math.round((estimateTokens(text) / (counts[i] ?? 1)) * 100)
    expect({ name, percent, isNear: percent >= 75 && percent <= 125 }).toEqual({ name, percent, isNear: true })
  }
})

test('no text takes long to estimate', () => {
  const before = process.cpuUsage().user
  for (const text of ['a', ' ', '1', '中', '\n', 'é', '{"a":1}']) estimateTokens(text.repeat(4_000_000))
  expect(process.cpuUsage().user - before).toBeLessThan(300_000)
})
