/** Lists of commands: a shortened list says so, and says how to get the rest. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { seed } from '../../bench/console-seed.ts'
import { runCommand, runJson } from '../support/command.ts'
import { freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'

/** Half of them are of the account. */
const REQUESTS = 2_400
const BOOKINGS = 24

const folder = freshFolder()
let account: string
let gateway: TestGateway

beforeAll(async () => {
  await (await startGateway({ folder })).crash()
  account = seed(folder, REQUESTS).accountId
  gateway = await startGateway({ folder, as: { accountId: account, key: '' } })
  const { secret } = await gateway.operate<{ secret: string }>('key.create', { account, name: 'lists' })
  for (let at = 0; at < BOOKINGS; at++) {
    await gateway.operate('account.credit', { account, amount: '1.00', reason: `top-up ${at}`, ref: `top-up ${at}` })
  }
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  for (let at = 0; at < 3; at++) {
    const body = JSON.stringify({ model: `none-${at}`, messages: [{ role: 'user', content: 'hi' }] })
    await fetch(`${gateway.baseUrl}/chat/completions`, { method: 'POST', headers, body })
  }
}, 120_000)
afterAll(async () => {
  await gateway.crash()
  rmSync(folder, { recursive: true, force: true })
})

test.each([
  ['request list', () => ['request', 'list', account], 20, 'id'],
  ['account journal', () => ['account', 'journal', account], 20, 'ref'],
  ['request list --refused', () => ['request', 'list', '--refused', '--limit', '2'], 2, 'id'],
] as const)(
  '%s says that there is more, and what shows it, with --json too',
  async (_, args, count, id) => {
    for (const json of [[], ['--json']]) {
      const { out, err, code } = await runCommand(folder, [...args(), ...json])
      expect(code).toBe(0)
      // Who asks for two rows as JSON, and gets two, knows.
      const isQuiet = json.length > 0 && args().some((arg) => arg === '--limit')
      if (isQuiet) expect(err).toBe('')
      else expect(err).toContain(`The newest ${count} are shown, and there are more`)
      if (json.length > 0 && !isQuiet) {
        const rows = JSON.parse(out) as Record<string, string>[]
        expect(rows.length).toBe(count)
        expect(err).toContain(`--before ${rows.at(-1)?.[id]} `)
      }
    }
  },
  60_000,
)

test('--before leads through the whole list, each row once', async () => {
  const seen: string[] = []
  let before: readonly string[] = []
  for (let rows: { id: string }[]; ;) {
    rows = await runJson(folder, ['request', 'list', account, '--limit', '500', ...before])
    seen.push(...rows.map(({ id }) => id))
    if (rows.length < 500) break
    before = ['--before', rows.at(-1)?.id ?? '']
  }
  expect([seen.length, new Set(seen).size]).toEqual([REQUESTS / 2, REQUESTS / 2])
  const refs: string[] = []
  for (let at: readonly string[] = []; ; at = ['--before', refs.at(-1) ?? '']) {
    const rows = await runJson<{ ref: string }[]>(folder, ['account', 'journal', account, '--limit', '10', ...at])
    refs.push(...rows.map(({ ref }) => ref))
    if (rows.length < 10) break
  }
  expect(refs.filter((ref) => ref.startsWith('top-up'))).toEqual(
    Array.from({ length: BOOKINGS }, (__, at) => `top-up ${BOOKINGS - 1 - at}`),
  )
  expect(new Set(refs).size).toBe(refs.length)
}, 120_000)

test('a list that is whole says nothing of more', async () => {
  const { out, err } = await runCommand(folder, ['request', 'list', account, '--limit', '5000', '--json'])
  expect([JSON.parse(out).length, err]).toEqual([REQUESTS / 2, ''])
  const refused = await runCommand(folder, ['request', 'list', '--refused', '--limit', '3', '--json'])
  expect([JSON.parse(refused.out).length, refused.err]).toEqual([3, ''])
}, 60_000)
