/** Four instances on one PostgreSQL restart in turn, behind nginx or Caddy where the machine has one of them. */
import { SQL } from 'bun'
import { afterEach, expect, test } from 'bun:test'
import { freePort } from '../support/free-port.ts'
import { freshFolder, startGateway, TEST_STORE } from '../support/gateway.ts'
import { freshDatabase } from '../support/postgres.ts'
import {
  endBalancers,
  isReady,
  makeOwner,
  restartUnderLoad,
  startBalancer,
  startRestarted,
  type BalancerName,
} from '../support/rolling-restart.ts'
import { countOf, reportFigure } from '../support/soaks.ts'

const INSTANCES = 4
/** At a hundred requests a second the count of the soak takes this long. */
const TIMEOUT_MS = 60_000 + countOf('rolling') * 10

afterEach(endBalancers)

const balancers: readonly BalancerName[] = ['nginx', 'caddy']

const secrets = { TOLLGATE_KEY_PEPPER: '5a'.repeat(32), TOLLGATE_MASTER_KEY: 'c3'.repeat(32) }

// It starts its own instances, so a pair instead of each would be eight.
test.skipIf(TEST_STORE === 'postgres')(
  'a rolling restart of four instances fails no request and cuts no stream',
  async () => {
    const env = { ...secrets, TOLLGATE_DATABASE_URL: await freshDatabase() }
    const owner = await makeOwner(env)
    const folders = [owner.folder, ...Array.from({ length: INSTANCES - 1 }, freshFolder)]
    const gateways = await Promise.all(folders.map((folder) => startRestarted(folder, owner, env)))
    const balancer = balancers.find((name) => Bun.which(name)) ?? 'balancer.js'
    const port = await startBalancer(balancer, gateways)
    const { faults, answers, restarts } = await restartUnderLoad(gateways, {
      port,
      key: owner.key,
      answersMin: countOf('rolling'),
    })
    expect(faults).toEqual([])
    expect(answers.streamed).toBeGreaterThan(INSTANCES * 8)
    reportFigure(`${restarts} restarts behind ${balancer}, ${answers.whole} whole answers, ${answers.streamed} streams`)
  },
  TIMEOUT_MS,
)

test.skipIf(TEST_STORE === 'postgres')('an instance refuses connections until it serves', async () => {
  const env = { ...secrets, TOLLGATE_DATABASE_URL: await freshDatabase(), TOLLGATE_LAME_DUCK_MS: '0' }
  const owner = await makeOwner(env)
  // On an address of its own, because gateways of other tests may take the port meanwhile.
  const [host, port] = ['127.0.0.9', freePort()]
  const sql = new SQL(env.TOLLGATE_DATABASE_URL, { max: 1 })
  const lock = await sql.reserve()
  await lock`BEGIN`
  await lock`LOCK TABLE instance`
  const starting = startGateway({ folder: owner.folder, as: owner, env: { ...env, HOST: host, PORT: String(port) } })
  const met = new Set<unknown>()
  for (const untilMs = performance.now() + 2_500; performance.now() < untilMs; await Bun.sleep(50)) {
    const url = `http://${host}:${port}/readyz`
    met.add(
      await fetch(url).then(
        ({ status }) => status,
        ({ code }: { code?: string }) => code,
      ),
    )
  }
  expect([...met]).toEqual(['ECONNREFUSED'])
  await lock`ROLLBACK`
  await lock.release()
  await sql.close()
  const gateway = await starting
  expect(await isReady(port, host)).toBe(true)
  await gateway.close()
})
