/**
 * Typing errors on the command line are reported by the command itself, and not only when a request is refused later.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand, runJson } from '../support/command.ts'
import { freshFolder, startGateway } from '../support/gateway.ts'

const folder = freshFolder()
const env = { MINE: 'gsk-nobody-calls', TOLLGATE_CONFIG: join(folder, 'tollgate.yaml') }
const operate = (line: string): Promise<unknown> => runJson(folder, line.split(' '), env)
const slip = async (line: string): Promise<readonly [number, string]> => {
  const { code, out, err } = await runCommand(folder, line.split(' '), env)
  return [code, out + err]
}

beforeAll(async () => {
  await operate('init')
  await operate('provider add groq --key-env MINE')
  await operate('model add fast --price-input 1 --price-output 2 --offer groq/any,priority=3')
  await operate('model add slow --price-input 1 --price-output 2 --offer groq/any')
  await operate('account create acme --models fast')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a key of an offer is no part of the name of its model', async () => {
  const fast = ((await operate('model list')) as { id: string; offers: object[] }[]).find(({ id }) => id === 'fast')
  expect(fast?.offers).toMatchObject([{ provider: 'groq', model: 'any', priority: 3 }])
  expect(await slip('model add m --price-input 1 --price-output 1 --offer groq/a,priorty=0')).toEqual([
    2,
    expect.stringContaining("has no 'priorty'; did you mean priority?"),
  ])
})

test('an allowed model is one that exists', async () => {
  for (const line of [
    'account create b --models fast,fsat',
    'account models acme fsat',
    'key create acme --name k --models fsat',
  ]) {
    expect(await slip(line)).toEqual([1, expect.stringContaining("there is no model 'fsat'")])
  }
  await operate('key create acme --name k --models fast')
})

test('one that went since stays in the list, and doctor names it', async () => {
  await operate('account create later --models slow,fast')
  await operate('model remove slow --yes')
  expect(await operate('account models later fast,slow')).toMatchObject({ models: ['fast', 'slow'] })
  const { out } = await runCommand(folder, ['doctor'], env)
  expect(out).toMatch(/warn {2}allow-lists +these name no model: account later: slow/)
})

test('an account may begin with nothing, and with nothing less', async () => {
  expect(await operate('account create penniless --balance 0')).toMatchObject({ posted_usd: '0.00' })
  expect(await slip('account create debtor --balance -1')).toEqual([2, expect.stringContaining('--balance')])
})

test('an embedding model has no price for output; others need one', async () => {
  const add = 'model add vectors --price-input 0.02 --offer groq/e,cost-input=0.01'
  expect(await operate(`${add} --kind embedding`)).toMatchObject({ kind: 'embedding' })
  const [code, said] = await slip(add.replace('vectors', 'words'))
  expect([code > 0, said]).toEqual([
    true,
    expect.stringContaining('price.output: a model of the kind text needs this price'),
  ])
})

test('an image model whose card has holes is named when it is made', async () => {
  const { code, err } = await runCommand(
    folder,
    'model add paint --kind image --family gpt-image --price-each image/1024x1024/low=0.01 --offer groq/p'.split(' '),
    env,
  )
  expect([code, err]).toEqual([0, expect.stringContaining('Warning: paint has no price for 1024x1024/')])
})

test('the server that runs is the one that is asked and linked to, whatever port this shell has', async () => {
  const gateway = await startGateway()
  try {
    const elsewhere = { TOLLGATE_API_KEY: gateway.key, PORT: '9' }
    const out = async (...args: readonly string[]): Promise<string> =>
      (await runCommand(gateway.folder, args, elsewhere)).out
    expect(await out('chat', 'Say exactly: one', '--model', 'sandbox-chat')).toBe('one\n')
    const { origin } = new URL(gateway.baseUrl)
    expect(await out('user', 'create', 'robin', '--role', 'operator')).toStartWith(`${origin}/console/`)
    expect(await out('user', 'reset', 'robin')).toStartWith(`${origin}/console/`)
  } finally {
    await gateway.close()
  }
})
