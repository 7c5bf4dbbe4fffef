/** What an instance knows of a balance that another one changes. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chat, startCluster, TEST_STORE, type TestGateway } from '../support/gateway.ts'

const YAML = `
models:
  bounded:
    output_tokens_min: 1
    output_tokens_max: 70
    price: { input: 0, output: 1000 }
    offers: [{ provider: sandbox, model: 'sandbox-chat!paceMs=100' }]
  # Ten tokens cost 10 µ$.
  cheap: { price: { input: 0, output: 1 }, offers: [{ provider: sandbox, model: 'sandbox-chat!pace=200' }] }
  paced: { price: { input: 0, output: 1000 }, offers: [{ provider: sandbox, model: 'sandbox-chat!paceMs=500' }] }`

// It starts its own instances.
const isPair = TEST_STORE === 'postgres'
let instances: readonly TestGateway[] = []

beforeAll(async () => {
  if (isPair) return
  instances = await startCluster(4, { yaml: YAML, balanceUsd: '0.05' })
}, 60_000)
afterAll(async () => {
  for (const gateway of instances) await gateway.close()
}, 60_000)

type Reply = { readonly error?: { code: string; message: string }; readonly usage?: { completion_tokens: number } }

test.skipIf(isPair)('an old balance refuses nobody and shortens no answer', async () => {
  const [here, there] = instances as [TestGateway, TestGateway]
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

test.skipIf(isPair)(
  'funds for exactly k of 1,000 requests at once, over four instances, are spent by k of them',
  async () => {
    const k = 137
    const [first] = instances as [TestGateway]
    const { id } = await first.operate<{ id: string }>('account.create', { name: 'crowd', balance: `0.00${k}` })
    const { secret } = await first.operate<{ secret: string }>('key.create', { account: 'crowd', name: 'k' })
    const body = { model: 'cheap', max_tokens: 10, messages: [{ role: 'user', content: 'write 10 tokens' }] }
    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, async (_, i) => {
        const gateway = instances[i % instances.length] as TestGateway
        const answer = await chat({ ...gateway, key: secret }, { ...body, stream: i % 3 === 0 })
        await answer.text()
        return answer.status
      }),
    )
    const count = (wanted: number): number => statuses.filter((status) => status === wanted).length
    // On a busy machine an instance refuses new work while its database is slow.
    const [answered, refused] = [count(200), count(401) + count(503)]
    expect({ answered, refused }).toEqual({ answered: k, refused: 1_000 - k })
    expect(count(401)).toBeGreaterThan(0)
    const books = await first.operate<object>('account.show', { account: id })
    expect(books).toMatchObject({ posted_nano_usd: '0', held_nano_usd: '0' })
  },
  60_000,
)

test.skipIf(isPair)(
  'a background response whose first hold was refused can be read when it has been charged',
  async () => {
    const [first, second] = instances as [TestGateway, TestGateway]
    const body = JSON.stringify({ model: 'bounded', background: true, input: 'write 3 tokens' })
    let made = 0
    for (let round = 0; round < 6; round++) {
      const account = `background-${round}`
      await first.operate('account.create', { name: account, balance: '0.1' })
      const { secret } = await first.operate<{ secret: string }>('key.create', { account, name: 'k' })
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
      // Both know the balance, which is enough for one hold and a smaller one.
      for (const { baseUrl } of [first, second]) await (await fetch(`${baseUrl}/balance`, { headers })).text()
      await Promise.all(
        [first, second].map(async ({ baseUrl }) => {
          const answer = await fetch(`${baseUrl}/responses`, { method: 'POST', headers, body })
          const { id } = (await answer.json()) as { id: string }
          if (answer.status !== 200) return
          made++
          for (let state = 'queued'; state !== 'completed'; await Bun.sleep(100)) {
            const shown = await fetch(`${baseUrl}/responses/${id}`, { headers })
            expect(shown.status).toBe(200)
            state = ((await shown.json()) as { status: string }).status
          }
        }),
      )
    }
    expect(made).toBeGreaterThan(6)
  },
  60_000,
)
