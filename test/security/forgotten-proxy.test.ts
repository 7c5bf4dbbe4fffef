/** A proxy that is not declared as trusted: its clients count as one address, and the operator is warned. */
import { expect, test } from 'bun:test'
import { chat, startGateway } from '../support/gateway.ts'

const forwarded = { 'x-forwarded-for': '198.51.100.4' }
const linesOf = (log: string): string[] => log.split('\n').filter((line) => line.includes('"proxy.untrusted"'))

async function doctor(folder: string): Promise<unknown> {
  const command = [process.execPath, '--no-env-file', 'src/main.ts', 'doctor', '--json']
  const env = { PATH: process.env['PATH'] ?? '', TOLLGATE_DATA: folder }
  const child = Bun.spawn(command, { cwd: `${import.meta.dir}/../..`, env, stdout: 'pipe', stderr: 'pipe' })
  const { checks } = (await new Response(child.stdout).json()) as { checks: { name: string }[] }
  return checks.find(({ name }) => name === 'proxy')
}

const ask = (gateway: Parameters<typeof chat>[0], headers: Readonly<Record<string, string>>): Promise<Response> =>
  chat(
    gateway,
    { model: 'sandbox-mini', max_tokens: 1 },
    { headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers } },
  )

test('is logged with the first request that it forwards, once, and known to doctor', async () => {
  const gateway = await startGateway()
  await (await ask(gateway, {})).text()
  expect(linesOf(gateway.output())).toEqual([])
  expect(await doctor(gateway.folder)).toEqual({ name: 'proxy', state: 'ok', detail: 'none in front' })
  for (let i = 0; i < 3; i++) await (await ask(gateway, forwarded)).text()
  const lines = linesOf(gateway.output())
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('"proxy":"127.0.0.1"')
  expect(await doctor(gateway.folder)).toMatchObject({ state: 'warn', detail: expect.stringContaining('127.0.0.1') })
  await gateway.close()
}, 30_000)

test('is said at the start where the public address speaks TLS; one that is trusted is no matter', async () => {
  const env = { TOLLGATE_PUBLIC_URL: 'https://api.example.com' }
  const forgotten = await startGateway({ env })
  expect(linesOf(forgotten.output())).toHaveLength(1)
  await forgotten.close()
  const trusting = await startGateway({ env: { ...env, TOLLGATE_TRUSTED_PROXIES: '127.0.0.1,::1' } })
  expect(linesOf(trusting.output())).toEqual([])
  await trusting.close()
}, 30_000)
