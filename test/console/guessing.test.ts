/** Guessing passwords is slow for the attacker, does not disturb others, and reveals nothing. */
import { afterEach, beforeEach, describe, expect, setSystemTime, test } from 'bun:test'
import { NAMES_MAX, MemoryThrottle } from '../../src/accounts/throttle.ts'
import { networkOf } from '../../src/lib/primitives/network.ts'
import { openConsole, type Answer, type TestConsole } from '../support/console.ts'
import { startGateway } from '../support/gateway.ts'

const PASSWORD = 'correct horse battery'
/** Cheap to check: what is counted here are tries, not time. */
const hash = await Bun.password.hash(PASSWORD, { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })

let context: TestConsole
beforeEach(async () => {
  context = await openConsole()
  await context.gateway.services.users.setPassword(context.ids.owner, hash)
})
afterEach(async () => {
  setSystemTime()
  await context.close()
})

const enter = (address: string, name = 'kim', password = PASSWORD): Promise<Answer> =>
  context.call({ headers: {}, address }, 'POST /session', { name, password })
/** Tries until told to wait; how many were made. */
async function guess(address: string, name = 'kim'): Promise<number> {
  for (let tries = 0; tries < 100; tries++) if ((await enter(address, name, 'wrong')).status === 429) return tries
  throw new Error('nobody was told to wait')
}

describe('a name that is guessed at', () => {
  test('is slow to guess from one address, then one try a minute, and says how long', async () => {
    expect(await guess('198.51.100.1')).toBe(8)
    const told = await enter('198.51.100.1')
    expect([told.status, Number(told.sent.headers['retry-after'])]).toEqual([429, expect.closeTo(60, -1)])
    setSystemTime(new Date(Date.now() + 60_000))
    expect(await guess('198.51.100.1')).toBe(1)
  })

  test('is not locked for its owner, who comes from elsewhere', async () => {
    for (let i = 0; i < 4; i++) await guess(`198.51.100.${i}`)
    expect((await enter('203.0.113.7')).status).toBe(200)
    expect((await enter('198.51.100.1', 'somebody', 'wrong')).status).toBe(401)
  })

  test('is slow to guess from everywhere together, which keeps nobody out who is in already', async () => {
    expect((await enter('203.0.113.7')).status).toBe(200)
    let tries = 0
    for (let i = 0; i < 200 && (await enter(`2001:db8:${i}::1`, 'kim', 'wrong')).status === 401; i++) tries++
    expect(tries).toBeLessThanOrEqual(100)
    expect((await enter('2001:db8:ffff::1')).status).toBe(429)
    expect((await enter('203.0.113.7')).status).toBe(200)
    expect((await enter('2001:db8:ffff::1', 'somebody', 'wrong')).status).toBe(401)
  })

  test('does not keep whoever has it from changing the password', async () => {
    const caller = await context.as('owner')
    for (let i = 0; i < 100; i++) await enter(`2001:db8:${i}::1`, 'kim', 'wrong')
    const change = { current: PASSWORD, password: PASSWORD }
    expect((await context.call(caller, 'POST /session/password', change)).status).toBe(200)
  })

  test('is one name however it is written', async () => {
    expect(await guess('198.51.100.1')).toBe(8)
    for (const name of ['KIM', ' kim ', 'Kim']) expect((await enter('198.51.100.1', name)).status).toBe(429)
  })
})

describe('an address that guesses', () => {
  test('has so many tries for all names together', async () => {
    let tries = 0
    while ((await enter('198.51.100.1', `nobody ${tries}`, 'wrong')).status === 401) tries++
    expect(tries).toBe(20)
    expect((await enter('198.51.100.2')).status).toBe(200)
  })

  test('is its whole network where it has one', async () => {
    let tries = 0
    while ((await enter(`2001:db8:0:1::${tries + 1}`, `nobody ${tries}`, 'wrong')).status === 401) tries++
    expect(tries).toBe(20)
    expect((await enter('2001:db8:0:2::1')).status).toBe(200)
    const spellings = ['2001:db8:0:1::1', '2001:0DB8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1:0:0:0:1']
    expect(new Set(spellings.map(networkOf)).size).toBe(1)
  })
})

test('the answer is the same for a name that nobody has, one that is barred, and one without a password', async () => {
  const { users } = context.gateway.services
  await users.create({ name: 'invited', role: 'operator', accountId: undefined })
  await users.update(context.ids.member, { status: 'disabled' })
  const told = await Promise.all(
    ['kim', 'lee', 'invited', 'nobody', '__proto__', 'constructor'].map((name) => enter('192.0.2.1', name, 'wrong')),
  )
  const [{ status, body, sent } = told[0] as Answer] = told
  expect(status).toBe(401)
  for (const each of told) expect([each.status, each.body, each.sent]).toEqual([status, body, sent])
})

test('the time to answer says nothing of who has an account', async () => {
  const real = await Bun.password.hash(PASSWORD, { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 })
  await context.gateway.services.users.setPassword(context.ids.owner, real)
  const took: Record<string, number[]> = { kim: [], nobody: [] }
  await enter('192.0.2.99', 'nobody', 'wrong')
  for (let i = 0; i < 7; i++) {
    for (const [name, times] of Object.entries(took)) {
      const startedMs = performance.now()
      await enter(`192.0.2.${i}`, name, 'wrong')
      times.push(performance.now() - startedMs)
    }
  }
  const [known = 0, unknown = 0] = Object.values(took).map((times) => times.toSorted((a, b) => a - b)[1])
  expect(Math.max(known, unknown)).toBeLessThan(3 * Math.min(known, unknown))
}, 20_000)

test('failed tries are noted so often, and no more: they must not fill the disk', async () => {
  // By people whose hash is cheap to check; of one name there are fewer tries.
  const names = ['op', 'kim', 'lee', 'ann']
  for (const id of Object.values(context.ids)) await context.gateway.services.users.setPassword(id, hash)
  for (let i = 0; i < 232; i++) {
    const tried = await enter(`2001:db8:${i.toString(16)}::1`, names[i % names.length], 'wrong')
    expect(tried.status).toBe(401)
  }
  const counted = 'SELECT count(*) AS count FROM audit WHERE outcome = ?'
  const [row] = await context.gateway.store.query(counted, ['wrong_password'])
  expect(Number(row?.['count'])).toBeGreaterThan(50)
  expect(Number(row?.['count'])).toBeLessThanOrEqual(205)
}, 60_000)

test('what is remembered of guesses is bounded', () => {
  const throttle = new MemoryThrottle({ burst: 8, refillMs: 60_000 })
  for (let i = 0; i < NAMES_MAX + 200; i++) throttle.take(`name ${i}`, 0)
  expect(throttle.size).toBe(NAMES_MAX)
})

describe('behind a proxy', () => {
  test.each([
    ['that is trusted, the real address counts', '127.0.0.1', 410],
    ['that is not, its own does, whatever it claims', '192.0.2.1', 429],
  ])(
    '%s',
    async (_, trusted, expected) => {
      const gateway = await startGateway({ env: { TOLLGATE_TRUSTED_PROXIES: trusted } })
      try {
        const send = async (forwarded: string): Promise<number> =>
          (
            await fetch(`${new URL(gateway.baseUrl).origin}/admin/v1/links/check`, {
              method: 'POST',
              headers: { 'content-type': 'application/json', 'x-forwarded-for': forwarded },
              body: '{"token":"setup_none"}',
            })
          ).status
        // What stands left of the last hop is the client's own invention.
        for (let i = 0; i < 21; i++) await send(`203.0.113.${i}, 198.51.100.1`)
        expect(await send('203.0.113.200, 198.51.100.1')).toBe(429)
        expect(await send('198.51.100.2')).toBe(expected)
      } finally {
        await gateway.close()
      }
    },
    30_000,
  )
})
