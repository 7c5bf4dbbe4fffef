import { describe, expect, test } from 'bun:test'
import { startInPython } from './client-process.ts'
import { ask, describeAnswers } from './openai-answers.ts'
import { describeFailures } from './openai-failures.ts'
import { findPython } from './python-package.ts'
import { hireClerk, setStage } from './stage.ts'

/** The official package for Python, which also checks every answer against its own models when it is told to. */
const found = findPython()
if (found.kind === 'missing') console.warn(`SKIPPED: openai in Python is not tested, ${found.reason}.`)

describe.skipIf(found.kind === 'missing').each(['loose', 'strict'] as const)('openai in Python, %s', (mode) => {
  const { python, folder } = found.kind === 'found' ? found : { python: '', folder: '' }
  const stage = setStage()
  const clerk = hireClerk({
    start: () => startInPython(python, folder, mode),
    baseUrl: () => stage.gateway().baseUrl,
  })

  test('it is the package and the runtime that it should be', async () => {
    const { runtime, sdk } = await clerk.ask({ key: 'sk-tg-none' }, 'describe')
    expect(`${runtime} ${sdk}`).toMatch(/^python 3\.\d+\.\d+ \d+\./)
  })

  test('strict is strict: what is no completion by its models passes only where it does not look', async () => {
    const choice = { index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, logprobs: null }
    const unfinished = { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices: [choice] }
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(unfinished) })
    const someone = { key: 'sk-tg-none', baseUrl: `${server.url.href}v1` }
    const order = { body: { model: 'm', ...ask('Hi') } }
    if (mode === 'loose') expect((await clerk.ask(someone, 'create', order)).completion).toMatchObject({ id: 'x' })
    else expect(await clerk.failing(someone, 'create', order)).toMatchObject({ name: 'APIResponseValidationError' })
    await server.stop(true)
  })

  describeAnswers(stage, clerk)
  describeFailures(stage, clerk, { timeout: 'APITimeoutError', isAbortQuiet: true })
})
