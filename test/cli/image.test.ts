/** `tollgate image` as people use it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand, type Ran } from '../support/command.ts'
import { freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'
import { readPng } from '../support/png.ts'

let gateway: TestGateway
let run: (...args: string[]) => Promise<Ran>

beforeAll(async () => {
  gateway = await startGateway()
  const env = { TOLLGATE_API_KEY: gateway.key, TOLLGATE_BASE_URL: gateway.baseUrl }
  run = (...args) => runCommand(gateway.folder, ['image', 'a lighthouse at dusk', ...args], env)
}, 30_000)
afterAll(() => gateway.close(), 30_000)

test('an image in a file, previews and cost on stderr', async () => {
  const file = join(gateway.folder, 'out.png')
  const ran = await run('--size', '1024x1024', '--quality', 'low', '-o', file)
  expect(ran).toMatchObject({ code: 0, out: `${file}\n` })
  const [asking, ...told] = ran.err.split('\n')
  expect([asking, told.slice(0, 2)]).toEqual(['asking sandbox-image …', ['preview 1 of 2', 'preview 2 of 2']])
  expect(told[2]).toMatch(/^\[1024x1024, \d+ KiB, 472 tokens, \$0\.0189\d*, [\d.]+ s\]$/)
  expect(readPng(Buffer.from(await Bun.file(file).bytes()))).toMatchObject({ width: 1024, height: 1024 })
})

test('a model that has addresses: the file behind it', async () => {
  const file = join(gateway.folder, 'classic.png')
  const { out } = await run('--model', 'sandbox-image-classic', '--size', '512x512', '--json', '-o', file)
  expect(JSON.parse(out)).toMatchObject({ file, cost_usd: '0.018', revised_prompt: expect.stringContaining('bold') })
  expect(readPng(Buffer.from(await Bun.file(file).bytes()))).toMatchObject({ width: 512 })
})

test('the model is one of the server that is asked, not of the folder the command runs in', async () => {
  const elsewhere = freshFolder()
  const env = { TOLLGATE_API_KEY: gateway.key, TOLLGATE_BASE_URL: gateway.baseUrl }
  const ask = (file: string, overrides = {}): Promise<Ran> =>
    runCommand(elsewhere, ['image', 'a boat', '--quality', 'low', '-o', join(elsewhere, file)], {
      ...env,
      ...overrides,
    })
  const ran = await ask('out.png')
  expect(ran).toMatchObject({ code: 0, out: `${join(elsewhere, 'out.png')}\n` })
  expect(ran.err).toStartWith('asking sandbox-image …\n')
  expect((await ask('no.png', { TOLLGATE_API_KEY: `${gateway.key}x` })).err).toContain('invalid_api_key')
  expect((await ask('no.png', { TOLLGATE_BASE_URL: 'http://127.0.0.1:1/v1' })).err).toContain('no answer from')
  const wordsOnly = { account: gateway.accountId, name: 'words', models: ['sandbox-chat'] }
  const { secret } = await gateway.operate<{ secret: string }>('key.create', wordsOnly)
  expect((await ask('no.png', { TOLLGATE_API_KEY: secret })).err).toContain('lists no model for images')
  expect(readdirSync(elsewhere)).toEqual(['out.png'])
  rmSync(elsewhere, { recursive: true })
})

test('what is wrong is said', async () => {
  expect((await run('-o', 'x.gif')).err).toContain('must end in .png')
  expect((await run('--size', '3x3', '-o', 'x.png')).err).toContain("Invalid 'size'")
})
