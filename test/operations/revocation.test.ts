/** A key that is revoked on one instance is refused by the others within two seconds, and usually at once. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startCluster, TEST_STORE, type TestGateway } from '../support/gateway.ts'
import { countOf, reportFigure } from '../support/soaks.ts'

const COUNT = countOf('revocations')
const SIDE_BY_SIDE = 4
const WORST_MS = 2_000
const MEDIAN_MS = 50

// It starts its own instances.
const isPair = TEST_STORE === 'postgres'
let instances: readonly TestGateway[] = []

beforeAll(async () => {
  if (isPair) return
  instances = await startCluster(2, { yaml: 'models: {}' })
}, 60_000)
afterAll(async () => {
  for (const gateway of instances) await gateway.close()
}, 60_000)

async function statusAt({ baseUrl }: TestGateway, secret: string): Promise<number> {
  const answer = await fetch(`${baseUrl}/models`, { headers: { authorization: `Bearer ${secret}` } })
  await answer.text()
  return answer.status
}

/** The time until a key is refused by the instance that did not revoke it. */
async function revocation(here: TestGateway, there: TestGateway, name: string): Promise<number> {
  const { id, secret } = await here.operate<{ id: string; secret: string }>('key.create', {
    account: here.accountId,
    name,
  })
  expect([await statusAt(here, secret), await statusAt(there, secret)]).toEqual([200, 200])
  await here.operate('key.revoke', { key: id })
  const revokedMs = performance.now()
  expect(await statusAt(here, secret)).toBe(401)
  while ((await statusAt(there, secret)) !== 401) {
    if (performance.now() - revokedMs > 10 * WORST_MS) throw new Error('it was never refused')
  }
  return performance.now() - revokedMs
}

test.skipIf(isPair)(
  'a key that is revoked on one instance is refused by the other',
  async () => {
    const times: number[] = []
    const [first, second] = instances as [TestGateway, TestGateway]
    await Promise.all(
      Array.from({ length: SIDE_BY_SIDE }, async (_, lane) => {
        for (let i = lane; i < COUNT; i += SIDE_BY_SIDE) {
          const [here, there] = i % 2 === 0 ? [first, second] : [second, first]
          times.push(await revocation(here, there, `k${i}`))
        }
      }),
    )
    times.sort((a, b) => a - b)
    const [median = 0, worst = 0] = [times[Math.floor(times.length / 2)], times.at(-1)]
    reportFigure(`${times.length} revocations seen: median ${median.toFixed(1)} ms, worst ${worst.toFixed(0)} ms`)
    expect(worst).toBeLessThan(WORST_MS)
    expect(median).toBeLessThan(MEDIAN_MS)
  },
  60_000 + COUNT * 200,
)
