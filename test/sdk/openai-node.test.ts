import { describe, expect, test } from 'bun:test'
import { startInNode } from './client-process.ts'
import { describeAnswers, testToolLoop } from './openai-answers.ts'
import { describeFailures } from './openai-failures.ts'
import { hireClerk, setStage } from './stage.ts'

/** Node itself, not Bun under its name: its fetch and its streams are what most users of the package have. */
const node = Bun.which('node')
if (!node) console.warn('SKIPPED: openai in Node is not tested, there is no node on the PATH.')

describe.skipIf(!node)('openai-6 in Node', () => {
  const stage = setStage()
  const clerk = hireClerk({ start: () => startInNode(node ?? '', 'openai-6'), baseUrl: () => stage.gateway().baseUrl })

  test('it is the package and the runtime that it should be', async () => {
    const { runtime, sdk } = await clerk.ask({ key: 'sk-tg-none' }, 'describe')
    expect(`${runtime} ${sdk}`).toMatch(/^node .* 6\./)
  })

  describeAnswers(stage, clerk)
  testToolLoop(stage, clerk)
  describeFailures(stage, clerk, { timeout: 'APIConnectionTimeoutError', isAbortQuiet: true })
})
