/** A server leaves without failing a request: behind a balancer, and alone. */
import { afterEach, expect, test } from 'bun:test'
import { cpSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { chat, freshFolder, startGateway } from '../support/gateway.ts'
import {
  endBalancers,
  isReady,
  makeOwner,
  restartUnderLoad,
  startBalancer,
  startRestarted,
  wholeRequest,
  type RestartedGateway,
} from '../support/rolling-restart.ts'

afterEach(endBalancers)

/** Gateways with the same accounts and keys, in copies of one folder. */
async function startTwo(): Promise<{ readonly gateways: readonly RestartedGateway[]; readonly key: string }> {
  const first = await makeOwner()
  const copy = freshFolder()
  cpSync(first.folder, copy, { recursive: true })
  const gateways = await Promise.all([first.folder, copy].map((folder) => startRestarted(folder, first)))
  return { gateways, key: first.key }
}

test('a rolling restart behind a balancer with health checks fails no request and cuts no stream', async () => {
  const { gateways, key } = await startTwo()
  const port = await startBalancer('balancer.js', gateways)
  const { faults, answers } = await restartUnderLoad(gateways, { port, key })
  expect(faults).toEqual([])
  expect(answers.whole).toBeGreaterThan(32)
  expect(answers.streamed).toBeGreaterThan(32)
}, 60_000)

/** Real balancers, where the machine has them. */
for (const name of ['nginx', 'caddy'] as const) {
  test.skipIf(!Bun.which(name))(
    `a rolling restart behind ${name} fails no request and cuts no stream`,
    async () => {
      const { gateways, key } = await startTwo()
      const port = await startBalancer(name, gateways)
      expect((await restartUnderLoad(gateways, { port, key })).faults).toEqual([])
    },
    60_000,
  )
}

test('a lame duck is not ready and serves on; a second signal ends the wait', async () => {
  const gateway = await startGateway({ env: { TOLLGATE_LAME_DUCK_MS: '60000' } })
  const { origin } = new URL(gateway.baseUrl)
  process.kill(gateway.pid, 'SIGTERM')
  for (let i = 0; i < 100 && (await isReady(Number(new URL(origin).port))); i++) await Bun.sleep(10)
  const ready = await fetch(`${origin}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'not ready' }])
  expect((await fetch(`${origin}/healthz`)).status).toBe(200)
  const answer = await chat(gateway, { model: 'sandbox-chat' })
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  // Signals within 300 ms are one.
  await Bun.sleep(400)
  process.kill(gateway.pid, 'SIGTERM')
  expect(await gateway.exited).toBe(0)
  expect(gateway.output()).toContain('"lame_duck.done"')
  rmSync(gateway.folder, { recursive: true, force: true })
})

/** The fate of one request on a raw connection. */
type Fate =
  | { readonly kind: 'answered'; readonly status: number; readonly isLast: boolean }
  | { readonly kind: 'refused' | 'ended' | 'reset'; readonly sentMs: number; readonly error?: string }

/** Sends one request, on a connection of its own if there is none, and says what became of it. */
function fateOf(port: number, key: string, held: { socket?: ReturnType<typeof connect> | undefined }): Promise<Fate> {
  const body = JSON.stringify(wholeRequest)
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n`
  const text = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const sentMs = performance.now()
  return new Promise((resolve) => {
    const socket = held.socket ?? connect({ port, host: '127.0.0.1', noDelay: true })
    const isOpen = held.socket !== undefined
    let got = ''
    const done = (fate: Fate): void => {
      socket.removeAllListeners()
      socket.on('error', () => undefined)
      held.socket = fate.kind === 'answered' && !fate.isLast ? socket : undefined
      if (!held.socket) socket.destroy()
      resolve(fate)
    }
    socket.on('data', (bytes: Buffer) => {
      got += bytes.toString()
      const length = /content-length: (\d+)/.exec(got)
      const from = got.indexOf('\r\n\r\n') + 4
      if (!length || from === 3 || got.length < from + Number(length[1])) return
      done({ kind: 'answered', status: Number(got.slice(9, 12)), isLast: /connection: close/.test(got) })
    })
    socket.on('end', () => done({ kind: 'ended', sentMs }))
    socket.on('error', (error: Error & { code?: string }) => {
      const kind = error.code === 'ECONNREFUSED' ? 'refused' : 'reset'
      done({ kind, sentMs, error: `${error.code ?? error.message} after ${got.length} bytes` })
    })
    if (isOpen) socket.write(text)
    else socket.once('connect', () => socket.write(text))
  })
}

test.each([0, 1])('SIGTERM to a process that is alone resets nobody (%i)', async () => {
  const gateway = await startGateway()
  const port = Number(new URL(gateway.baseUrl).port)
  const fates: Fate[] = []
  let closedMs = Number.POSITIVE_INFINITY
  const client = async (keeps: 'connection' | 'nothing'): Promise<void> => {
    const held = {}
    for (;;) {
      const fate = await fateOf(port, gateway.key, keeps === 'connection' ? held : {})
      fates.push(fate)
      if (fate.kind !== 'refused') continue
      closedMs = Math.min(closedMs, fate.sentMs)
      return
    }
  }
  const clients = Array.from({ length: 8 }, (_, i) => client(i % 2 === 0 ? 'connection' : 'nothing'))
  await Bun.sleep(500)
  const before = fates.length
  process.kill(gateway.pid, 'SIGTERM')
  await Promise.all(clients)
  expect(await gateway.exited).toBe(0)
  expect(fates.filter(({ kind }) => kind === 'reset')).toEqual([])
  expect(fates.filter((fate) => fate.kind === 'ended' && fate.sentMs < closedMs - 100)).toEqual([])
  const later = fates.slice(before).filter((fate) => fate.kind === 'answered')
  expect(later.filter(({ status }) => status !== 200 && status !== 503)).toEqual([])
  // Those that kept a connection heard that it ends.
  expect(later.filter(({ isLast }) => isLast).length).toBeGreaterThanOrEqual(4)
  rmSync(gateway.folder, { recursive: true, force: true })
})
