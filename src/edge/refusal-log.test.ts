import { expect, test } from 'bun:test'
import { RefusalLog } from './refusal-log.ts'

test('a flood of refusals is counted and not written; other refusals are written', async () => {
  const lines: string[] = []
  const refusals = new RefusalLog((_level, event, fields) => {
    lines.push(`${event} ${JSON.stringify(fields)}`)
  })
  for (let i = 0; i < 1_000; i++) refusals.write({ status: 401 })
  refusals.write({ account: 'a', status: 429 })
  expect(lines).toHaveLength(51)
  expect(lines.at(-1)).toBe('request.refused {"account":"a","status":429}')
  await Bun.sleep(1_100)
  expect(lines.slice(51)).toEqual(['request.refused_suppressed {"requests":950}'])
  refusals.write({ status: 401 })
  expect(lines).toHaveLength(53)
})
