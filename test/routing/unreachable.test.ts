import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chat, startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'
import { startRawUpstream, type RawUpstream } from '../support/raw-upstream.ts'

let sandbox: TestSandbox
let gateway: TestGateway
/** Takes connections and never says a word. */
let mute: RawUpstream

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  mute = startRawUpstream({})
  const model = (name: string, ...offers: string[]): string => `
  ${name}:
    price: { input: 1000, output: 2000 }
    offers: [${offers.join(', ')}]`
  const offer = (provider: string, priority = 0): string =>
    `{ provider: ${provider}, model: sandbox-mini, priority: ${priority} }`
  gateway = await startGateway({
    yaml: `
providers:
  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }
  no-handshake: { base_url: 'https://127.0.0.1:${mute.port}/v1', allow_private: true }
  silent: { base_url: '${mute.origin}/v1', allow_private: true }
models:${model('first-unreachable', offer('no-handshake'), offer('vendor', 1))}${model('unreachable', offer('no-handshake'))}${model('silent', offer('silent'))}
`,
  })
})
afterAll(async () => {
  await gateway.close()
  mute.stop()
  await sandbox.stop()
})

type StoredRecord = { model: string; outcome: string; charged: string; attempts: string }

/** The record of a model's last request, once there is one. */
async function lastRecord(model: string): Promise<StoredRecord> {
  for (let i = 0; i < 200; i++) {
    const [newest] = await gateway.operate<StoredRecord[]>('request.list', { account: gateway.accountId, limit: 1 })
    if (newest?.model === model) return newest
    await Bun.sleep(20)
  }
  throw new Error(`no record of ${model}`)
}

test('a whole reply whose first upstream cannot be reached is answered by the second', async () => {
  const response = await chat(gateway, { model: 'first-unreachable', max_tokens: 20 })
  expect(response.status).toBe(200)
  const record = await lastRecord('first-unreachable')
  const attempts = JSON.parse(record.attempts) as { result: string; message?: string }[]
  expect(attempts.map(({ result }) => result)).toEqual(['unreachable', 'ok'])
  expect(attempts[0]?.message).toBe('connect timeout')
}, 15_000)

for (const stream of [false, true]) {
  const kind = stream ? 'stream' : 'reply'
  test(`a client that leaves a ${kind} pays for an upstream that was at work, and not for one never reached`, async () => {
    for (const model of ['silent', 'unreachable']) {
      const leaving = chat(gateway, { model, stream, max_tokens: 20 }, { signal: AbortSignal.timeout(400) })
      const left = await leaving.then((response) => response.text()).catch((error: unknown) => error)
      expect(left).toBeInstanceOf(Error)
      const { charged } = await lastRecord(model)
      expect({ model, isCharged: charged !== '0' }).toEqual({ model, isCharged: model === 'silent' })
    }
  })
}
