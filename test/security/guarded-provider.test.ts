import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { callControl } from '../../src/admin/control.ts'
import {
  chat,
  freshFolder,
  startGateway,
  startSandboxProcess,
  type TestGateway,
  type TestSandbox,
} from '../support/gateway.ts'
import { answering, startRawUpstream, type RawUpstream } from '../support/raw-upstream.ts'

let sandbox: TestSandbox
let gateway: TestGateway
/** Sends whoever asks to the sandbox. */
let redirecting: RawUpstream
const folder = freshFolder()

const start = (): Promise<TestGateway> =>
  startGateway({
    folder,
    yaml: `providers: { moved: { base_url: '${redirecting.origin}/v1', allow_private: true, key: secret } }`,
  })

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  redirecting = startRawUpstream(
    answering(
      () =>
        `HTTP/1.1 307 Temporary Redirect\r\nlocation: ${sandbox.baseUrl}/chat/completions\r\ncontent-length: 0\r\n\r\n`,
    ),
  )
  gateway = await start()
})
afterAll(async () => {
  await gateway.close()
  redirecting.stop()
  await sandbox.stop()
})

const addNear = (input: object): Promise<unknown> => callControl(folder, 'provider.add', { id: 'near', ...input })
const refused = (message: string): object => ({
  ok: false,
  code: 'invalid_input',
  message: expect.stringContaining(message),
})

test('a provider at a private address is added only with the allowance, which belongs to its origin', async () => {
  const base_url = sandbox.baseUrl
  expect(await addNear({ base_url })).toMatchObject(refused('add --allow-private'))
  expect(await addNear({ base_url: 'http://169.254.169.254/v1', allow_private: true })).toMatchObject(refused('never'))
  expect(await addNear({ base_url: 'https://a:b@example.com/v1' })).toMatchObject(refused('credentials'))
  expect(await addNear({ base_url, allow_private: true })).toMatchObject({ ok: true, value: { allow_private: true } })
  expect(await addNear({ key: 'secret' })).toMatchObject({ ok: true, value: { base_url, allow_private: true } })
  expect(await addNear({ base_url: 'http://127.0.0.1:9/v1', key: 'x' })).toMatchObject(refused('--allow-private'))
  expect(await addNear({ allow_private: false })).toMatchObject(refused('--allow-private'))
  const own = await callControl(folder, 'provider.add', { id: 'ollama' })
  expect(own).toMatchObject({ ok: true, value: { base_url: 'http://127.0.0.1:11434/v1', allow_private: true } })
})

type Attempt = { result: string; status?: number; message?: string }

async function attemptsOf(model: string): Promise<Attempt[]> {
  for (let i = 0; i < 200; i++) {
    const newest = await gateway.operate<{ model: string; attempts: string }[]>('request.list', {
      account: gateway.accountId,
      limit: 1,
    })
    if (newest[0]?.model === model) return JSON.parse(newest[0].attempts) as Attempt[]
    await Bun.sleep(20)
  }
  throw new Error(`no record of ${model}`)
}

async function addModel(id: string, ...providers: string[]): Promise<void> {
  const offers = providers.map((provider, priority) => ({ provider, model: 'sandbox-mini', priority }))
  await gateway.operate('model.add', { id, price: { input: '1', output: '2' }, offers })
}

test('an upstream’s redirect is a failure, for which the next offer answers', async () => {
  await addModel('redirected', 'moved', 'sandbox')
  expect((await chat(gateway, { model: 'redirected', max_tokens: 5 })).status).toBe(200)
  expect(await attemptsOf('redirected')).toMatchObject([{ result: 'server', status: 307 }, { result: 'ok' }])
  expect(await sandbox.stats()).toMatchObject({ requests: 0 })
})

test('an address that is refused at the connect is an unreachable offer, of which the client learns nothing', async () => {
  await addModel('first-refused', 'near', 'sandbox')
  await addModel('refused', 'near')
  process.kill(gateway.pid, 'SIGTERM')
  expect(await gateway.exited).toBe(0)
  // As it is found after an upgrade from a version that asked nobody.
  const db = new Database(join(folder, 'tollgate.db'))
  db.run("UPDATE provider SET allow_private = 0 WHERE id = 'near'")
  db.close()
  gateway = await start()
  expect((await chat(gateway, { model: 'first-refused', max_tokens: 5 })).status).toBe(200)
  const message = expect.stringContaining('allow_private')
  expect(await attemptsOf('first-refused')).toMatchObject([{ result: 'unreachable', message }, { result: 'ok' }])
  for (const stream of [false, true]) {
    const response = await chat(gateway, { model: 'refused', stream, max_tokens: 5 })
    expect(response.status).toBe(502)
    const told = await response.text()
    expect(told).toContain('The upstream failed to answer. Nothing was charged.')
    expect(told + JSON.stringify([...response.headers])).not.toMatch(/127\.0|private|loopback/)
  }
  const probed = await gateway.operate('provider.test', { id: 'near' })
  expect(probed).toMatchObject({ ok: false, problem: message })
  expect(await sandbox.stats()).toMatchObject({ requests: 0 })
  expect(await addNear({ allow_private: true })).toMatchObject({ ok: true, value: { has_key: true } })
  expect((await chat(gateway, { model: 'refused', max_tokens: 5 })).status).toBe(200)
  expect(await sandbox.stats()).toMatchObject({ requests: 1 })
})
