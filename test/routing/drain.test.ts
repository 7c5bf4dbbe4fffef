import { expect, test } from 'bun:test'
import { chat, freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'

const slow = { model: 'sandbox-chat', stream: true, messages: [{ role: 'user', content: 'write 60 tokens' }] }

async function readAll(
  reader: { read(): Promise<{ done: boolean; value?: Uint8Array }> } | undefined,
): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    text += decoder.decode(next.value, { stream: true })
  }
  return text
}

test('SIGTERM refuses new work, lets a running stream end, and leaves with nothing open', async () => {
  const folder = freshFolder()
  const gateway = await startGateway({ folder })
  const reader = (await chat(gateway, slow)).body?.getReader()
  await reader?.read()
  process.kill(gateway.pid, 'SIGTERM')
  await Bun.sleep(50)
  const origin = new URL(gateway.baseUrl).origin
  expect((await fetch(`${origin}/healthz`)).status).toBe(200)
  expect((await fetch(`${origin}/readyz`)).status).toBe(503)
  const refused = await chat(gateway, { model: 'sandbox-chat' })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await readAll(reader)).endsWith('data: [DONE]\n\n')).toBe(true)
  expect(await gateway.exited).toBe(0)
  const next = await startGateway({ folder })
  expect(next.output()).not.toContain('ledger.expired')
  await next.close()
})

const LATE = `
models:
  late: { price: { input: 1, output: 2 }, offers: [{ provider: sandbox, model: 'sandbox-chat!delayMs=5000' }] }`

test('a whole answer that outlasts the time of a request costs its input', async () => {
  const gateway = await startGateway({ yaml: LATE, env: { TOLLGATE_REQUEST_TIMEOUT_MS: '500' } })
  const answer = await chat(gateway, { model: 'late' })
  const cost = Number(answer.headers.get('x-tollgate-cost-usd'))
  expect([answer.status, cost > 0]).toEqual([504, true])
  const { error } = (await answer.json()) as { error: { message: string } }
  expect(error.message).toEndWith('Its input and the output so far were charged.')
  const [record] = await gateway.operate<{ charged: string }[]>('request.list', { limit: 1 })
  expect(record).toMatchObject({ outcome: 'cut', status: '504', error_code: 'upstream_timeout' })
  expect(Number(record?.charged)).toBeCloseTo(cost * 1e9, 0)
  await gateway.close()
})

test('a whole answer that outlasts the drain is free, and its client is told to come back', async () => {
  const folder = freshFolder()
  const gateway = await startGateway({ yaml: LATE, folder, env: { TOLLGATE_DRAIN_MS: '100' } })
  const pending = chat(gateway, { model: 'late' })
  await Bun.sleep(200)
  process.kill(gateway.pid, 'SIGTERM')
  const answer = await pending
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await gateway.exited).toBe(0)
  const next = await startGateway({ yaml: LATE, folder })
  const [record] = await next.operate<object[]>('request.list', { account: gateway.accountId, limit: 1 })
  expect(record).toMatchObject({ model: 'late', outcome: 'failed', charged: '0' })
  await next.close()
})

test('a call that a crash cut has no record, and is explained all the same', async () => {
  const folder = freshFolder()
  const gateway = await startGateway({ folder })
  const body = { ...slow, max_tokens: 5_000, messages: [{ role: 'user', content: 'write 5000 tokens' }] }
  const answer = await chat(gateway, body)
  await answer.body?.getReader().read()
  const request = answer.headers.get('x-request-id')
  const held = answer.headers.get('x-tollgate-held-usd') ?? ''
  const explained = (from: TestGateway): Promise<unknown> =>
    from.operate('request.show', { request }).catch((error: unknown) => String(error))
  expect(await explained(gateway)).toContain(`is running, with $${held} held`)
  await gateway.crash()
  const next = await startGateway({ folder })
  expect(await explained(next)).toContain(`nothing was charged, and the $${held} that it held was released`)
  const foreign = next.operate('request.show', { request, account: next.accountId }).catch(String)
  expect(await foreign).toContain(`there is no request '${request}' of this account`)
  await next.close()
})

test('a stream that outlasts the drain gets an error in the band and is charged for what arrived', async () => {
  const folder = freshFolder()
  const gateway = await startGateway({ folder, env: { TOLLGATE_DRAIN_MS: '100' } })
  const body = { ...slow, messages: [{ role: 'user', content: 'write 5000 tokens' }] }
  const reader = (await chat(gateway, body)).body?.getReader()
  await reader?.read()
  process.kill(gateway.pid, 'SIGTERM')
  const rest = await readAll(reader)
  expect(rest).toContain('"code":"service_unavailable"')
  expect(rest).not.toContain('[DONE]')
  expect(await gateway.exited).toBe(0)
  const next = await startGateway({ folder })
  const { id } = await next.operate<{ id: string }>('account.show', { account: gateway.accountId })
  const [record] = await next.operate<{ outcome: string; charged: string }[]>('request.list', { account: id, limit: 1 })
  expect(record?.outcome).toBe('cut')
  expect(BigInt(record?.charged ?? 0)).toBeGreaterThan(0n)
  await next.close()
})
