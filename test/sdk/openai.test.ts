import { describe, expect, test } from 'bun:test'
import { startInBun } from './client-process.ts'
import { describeAnswers, testToolLoop } from './openai-answers.ts'
import { describeFailures } from './openai-failures.ts'
import { hireClerk, setStage } from './stage.ts'

/** The official package for JavaScript, both majors, in Bun: client → gateway → sandbox vendor, over sockets. */
describe.each(['openai-6', 'openai-7'] as const)('%s in Bun', (sdk) => {
  const stage = setStage()
  const clerk = hireClerk({ start: () => startInBun(sdk), baseUrl: () => stage.gateway().baseUrl })

  test('it is the package and the runtime that it should be', async () => {
    const { runtime, sdk: version } = await clerk.ask({ key: 'sk-tg-none' }, 'describe')
    expect(`${runtime} ${version}`).toMatch(new RegExp(`^bun .* ${sdk.at(-1)}\\.`))
  })

  describeAnswers(stage, clerk)
  testToolLoop(stage, clerk)
  describeFailures(stage, clerk, { timeout: 'APIConnectionTimeoutError', isAbortQuiet: true })
})
