/** Requests that a vendor refuses are free but leave a record. Nobody may fill the disk with them. */
import { expect, test } from 'bun:test'
import { FUTILE_PER_MINUTE } from '../../src/domain/limits.ts'
import { chat } from '../support/gateway.ts'
import { useGateway } from '../support/use-gateway.ts'

const gateway = useGateway({
  env: { TOLLGATE_LOG: 'warn' },
  yaml: `models:
  refusing: { price: { input: 1, output: 2 }, offers: [{ provider: sandbox, model: 'sandbox-chat!status=400' }] }
`,
})

test('an account has so many refused in a minute; others are served', async () => {
  const statuses = new Map<number, number>()
  let last: Response | undefined
  const ask = async (): Promise<void> => {
    for (let i = 0; i < FUTILE_PER_MINUTE / 20; i++) {
      const answer = await chat(gateway, { model: 'refusing' })
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      await answer.arrayBuffer()
      if (answer.status === 429) last = answer
    }
  }
  await Promise.all(Array.from({ length: 30 }, ask))
  expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([400, 429])
  // Those that were under way are counted too.
  expect(Number(last?.headers.get('retry-after'))).toBeWithin(1, 4)
  // It fills up again meanwhile.
  expect(statuses.get(400)).toBeWithin(FUTILE_PER_MINUTE, FUTILE_PER_MINUTE * 1.4)
  const refused = await chat(gateway, { model: 'sandbox-chat' })
  if (refused.status === 429) expect(await refused.text()).toContain('refused by vendors')

  const { id } = await gateway.operate<{ id: string }>('account.create', { name: 'other', balance: '1' })
  const { secret } = await gateway.operate<{ secret: string }>('key.create', { account: id, name: 'k' })
  expect((await chat({ baseUrl: gateway.baseUrl, key: secret }, { model: 'sandbox-chat' })).status).toBe(200)
  const again = async (): Promise<number> => (await chat(gateway, { model: 'sandbox-chat' })).status
  let status = await again()
  for (let tries = 0; status === 429 && tries < 100; tries++) {
    await Bun.sleep(100)
    status = await again()
  }
  expect(status).toBe(200)
}, 60_000)
