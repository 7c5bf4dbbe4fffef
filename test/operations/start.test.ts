import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { bunEnv } from '../../bin/bun-env.js'
import { loadConfig } from '../../src/config.ts'
import type { Edge } from '../../src/edge/edge-options.ts'
import { bindPorts, type Ports } from '../../src/ports.ts'
import { freePort } from '../support/free-port.ts'
import { freshFolder, startGateway } from '../support/gateway.ts'

type MetWarning = 'refused' | 'reset' | { readonly status: number; readonly retryAfter: boolean }

/** One request on a connection of its own, to its end. */
function meet(port: number, path = '/readyz'): Promise<MetWarning> {
  const { promise, resolve } = Promise.withResolvers<MetWarning>()
  let text = ''
  let isOpen = false
  const socket = createConnection({ port, host: '127.0.0.1' }, () => {
    isOpen = socket.localPort !== port
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  })
  socket.on('data', (bytes) => (text += bytes.toString('latin1')))
  socket.on('error', () => resolve(isOpen ? 'reset' : 'refused'))
  socket.on('close', () => {
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0)
    if (status > 0) resolve({ status, retryAfter: /\r\nretry-after: \d+\r\n/.test(text) })
    else resolve(isOpen ? 'reset' : 'refused')
  })
  return promise
}

test('a port that has listened once is never refused or reset again, and a start loses no request', async () => {
  const folder = freshFolder()
  for (let round = 0; round < 3; round++) {
    const port = freePort()
    const met: Promise<MetWarning>[] = []
    const knocking = setInterval(() => met.push(meet(port)), 2)
    const gateway = await startGateway({ folder, env: { PORT: String(port) } })
    await Bun.sleep(50)
    clearInterval(knocking)
    const all = await Promise.all(met)
    const from = all.findIndex((each) => each !== 'refused')
    expect(from).toBeGreaterThan(-1)
    const wrong = all
      .slice(from)
      .filter((each) => typeof each === 'string' || (each.status !== 200 && !(each.status === 503 && each.retryAfter)))
    expect(wrong).toEqual([])
    process.kill(gateway.pid, 'SIGTERM')
    await gateway.exited
  }
})

test('whoever sees that it is ready finds the first key and the set-up link in what was printed', async () => {
  for (let round = 0; round < 5; round++) {
    const [folder, port] = [freshFolder(), freePort()]
    const printed = join(folder, 'printed')
    const child = Bun.spawn([process.execPath, join(import.meta.dir, '../../src/main.ts'), 'serve'], {
      env: { ...process.env, ...bunEnv, PORT: String(port), TOLLGATE_DATA: join(folder, 'data') },
      cwd: folder,
      stdout: Bun.file(printed),
      stderr: 'ignore',
    })
    let met: MetWarning = 'refused'
    while (typeof met === 'string' || met.status !== 200) met = await meet(port)
    const text = readFileSync(printed, 'utf8')
    expect([text.includes('sk-tg-'), text.includes('#setup_')]).toEqual([true, true])
    child.kill('SIGTERM')
    await child.exited
  }
})

describe('a start that takes long', () => {
  let ports: Ports

  beforeAll(async () => {
    const folder = freshFolder()
    const config = await loadConfig({ TOLLGATE_DATA: folder, PORT: '0', TOLLGATE_METRICS_PORT: '0' })
    ports = bindPorts(config, () => undefined)
  })
  afterAll(() => {
    ports.server.close()
    ports.monitoring?.close()
  })

  test('answers 503 with Retry-After in the envelope of each dialect, and says that it lives', async () => {
    const origin = `http://127.0.0.1:${ports.server.port}`
    const post = (path: string): Promise<Response> => fetch(origin + path, { method: 'POST', body: '{}' })
    const paths = ['/v1/chat/completions', '/v1/messages', '/v1beta/models/m:generateContent']
    const answers = await Promise.all(paths.map(post))
    expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
      [503, 529, 503].map((status) => [status, '1']),
    )
    const [chat, messages, gemini] = (await Promise.all(answers.map((answer) => answer.json()))) as object[]
    expect(chat).toMatchObject({ error: { code: 'service_unavailable', message: 'Not ready: starting.' } })
    expect(messages).toMatchObject({ type: 'error', error: { message: 'Not ready: starting.' } })
    expect(gemini).toMatchObject({ error: { code: 503, status: 'UNAVAILABLE' } })
    const probes = [await fetch(`${origin}/healthz`), await fetch(`${origin}/readyz`)]
    expect(probes.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [200, null],
      [503, '1'],
    ])
    expect(await meet(ports.monitoring?.port ?? 0)).toEqual({ status: 503, retryAfter: true })
  })

  test('serves on the same port, and the same connections, once it is over', async () => {
    const answer = (exchange: Parameters<Edge['handle']>[0]): void => exchange.reply(200, {}, 'here')
    ports.open({ handle: answer, monitor: answer, refuse: () => ({ headers: {}, body: '' }) })
    for (const { port } of [ports.server, ports.monitoring ?? ports.server]) {
      expect(await (await fetch(`http://127.0.0.1:${port}/readyz`)).text()).toBe('here')
    }
  })
})
