/** What an instance knows of a balance that another one changes. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { freshDatabase } from '../support/fresh-database.ts'
import { chat, startGateway, TEST_STORE, type TestGateway } from '../support/gateway.ts'

const YAML = `
models:
  paced: { price: { input: 0, output: 1000 }, offers: [{ provider: sandbox, model: 'sandbox-chat!paceMs=500' }] }`

// It starts its own instances.
const isPair = TEST_STORE === 'postgres'
let both: readonly TestGateway[] = []

beforeAll(async () => {
  if (isPair) return
  const env = {
    TOLLGATE_DATABASE_URL: await freshDatabase(),
    TOLLGATE_KEY_PEPPER: '5a'.repeat(32),
    TOLLGATE_MASTER_KEY: 'c3'.repeat(32),
    TOLLGATE_LAME_DUCK_MS: '0',
  }
  const first = await startGateway({ yaml: YAML, env, balanceUsd: '0.05' })
  both = [first, await startGateway({ yaml: YAML, env, as: first })]
})
afterAll(async () => {
  for (const gateway of both) await gateway.close()
})

type Reply = { readonly error?: { code: string; message: string }; readonly usage?: { completion_tokens: number } }

test.skipIf(isPair)('an old balance refuses nobody and shortens no answer', async () => {
  const [here, there] = both as [TestGateway, TestGateway]
  const words = (count: number): object => ({
    model: 'paced',
    messages: [{ role: 'user', content: `write ${count} tokens` }],
  })
  const replyOf = async (gateway: TestGateway, body: object): Promise<Reply> =>
    (await (await chat(gateway, body)).json()) as Reply
  const balanceOf = async (gateway: TestGateway): Promise<unknown> => {
    const answer = await fetch(`${gateway.baseUrl}/balance`, { headers: { authorization: `Bearer ${gateway.key}` } })
    return ((await answer.json()) as { available: string }).available
  }
  // One instance holds nearly everything. The other one sees that, and then nothing for a while.
  const running = chat(here, { ...words(3), max_tokens: 48 })
  for (let i = 0; i < 100 && (await balanceOf(there)) !== '0.002'; i++) await Bun.sleep(5)
  expect(await replyOf(there, { ...words(3), max_tokens: 30 })).toMatchObject({
    error: { code: 'insufficient_balance', message: expect.stringContaining('held $0.048') },
  })
  expect((await running).status).toBe(200)
  await Bun.sleep(200)
  expect(await replyOf(there, { ...words(8), max_tokens: 40 })).toMatchObject({ usage: { completion_tokens: 8 } })
  expect([await balanceOf(here), await balanceOf(there)]).toEqual(['0.039', '0.039'])
})
