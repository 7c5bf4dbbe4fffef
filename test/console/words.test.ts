/** The console has a text in every language for each name that the server reports. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadConfig } from '../../src/config.ts'
import { settingsOf } from '../../src/public-server.ts'
import { server as english } from '../../web/src/lib/i18n/en/server.ts'
import { server as chinese } from '../../web/src/lib/i18n/zh/server.ts'
import { openConsole, type TestConsole } from '../support/console.ts'

let context: TestConsole
beforeAll(async () => {
  context = await openConsole()
})
afterAll(() => context.close())

type Facts = Readonly<Record<string, unknown>>

/** `limits`, `limits.drainMs`, … */
const namesIn = (facts: Facts, before = ''): readonly string[] =>
  Object.entries(facts).flatMap(([name, value]) => {
    const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value)
    return [before + name, ...(isGroup ? namesIn(value as Facts, `${before}${name}.`) : [])]
  })

test('settings and facts of the process have words, and there are no words for what is not there', async () => {
  const settings = await settingsOf(await loadConfig({}))
  const { body } = await context.call<{ process: Facts }>(await context.as('operator'), 'GET /health')
  const named = new Set([...namesIn(settings), ...namesIn(body.process)])
  expect(Object.keys(english).toSorted()).toEqual([...named].toSorted())
})

test('Chinese words are Chinese', () => {
  for (const words of Object.entries(chinese))
    expect(words).toEqual([expect.any(String), expect.stringMatching(/\p{Script=Han}|^\/metrics/u)])
})
