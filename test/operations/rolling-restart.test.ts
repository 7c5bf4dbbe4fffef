/** A server leaves without failing a request: behind a balancer, and alone. */
import { afterEach, expect, test } from 'bun:test'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { chat, freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'

const LAME_DUCK_MS = 1_000
const CLIENTS = 32

/** Streams of `paced` last longer than the lame duck. */
const YAML = `
models:
  paced: { price: { input: 1, output: 2 }, offers: [{ provider: sandbox, model: 'sandbox-chat!paceMs=30' }] }`

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

type Instance = { readonly port: number; restart(): Promise<void>; stop(): Promise<void> }

/** Gateways with the same accounts and keys, in copies of one folder. */
async function startTwo(): Promise<{ readonly instances: readonly Instance[]; readonly key: string }> {
  const first = await startGateway({ yaml: YAML })
  process.kill(first.pid, 'SIGTERM')
  await first.exited
  const copy = freshFolder()
  cpSync(first.folder, copy, { recursive: true })
  const instances = await Promise.all([first.folder, copy].map((folder) => startInstance(folder, first)))
  return { instances, key: first.key }
}

async function startInstance(folder: string, as: Pick<TestGateway, 'accountId' | 'key'>): Promise<Instance> {
  const start = (port: number): Promise<TestGateway> =>
    startGateway({
      folder,
      as,
      env: {
        PORT: String(port),
        TOLLGATE_CONFIG: join(folder, 'tollgate.yaml'),
        TOLLGATE_LAME_DUCK_MS: String(LAME_DUCK_MS),
      },
    })
  let gateway = await start(0)
  const port = Number(new URL(gateway.baseUrl).port)
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  return {
    port,
    async restart() {
      process.kill(gateway.pid, 'SIGTERM')
      expect(await gateway.exited).toBe(0)
      gateway = await start(port)
    },
    stop: () => gateway.close(),
  }
}

/** Starts a balancer whose first line says where it listens. */
async function startBalancer(command: readonly string[]): Promise<number> {
  const child = Bun.spawn([...command], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  ends.push(() => child.kill())
  for await (const line of child.stdout) return Number(new TextDecoder().decode(line))
  throw new Error(`no balancer: ${command.join(' ')}`)
}

/** An HTTP port that nobody has at the moment. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  } catch {
    return false
  }
}

async function untilReady(port: number): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (await isReady(port)) return
    await Bun.sleep(50)
  }
  throw new Error(`nobody is ready behind ${port}`)
}

const whole = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'write 5 tokens' }] }
const streamed = { model: 'paced', stream: true, messages: [{ role: 'user', content: 'write 60 tokens' }] }

/** What is wrong with one answer, or undefined. */
async function faultOf(balancer: { readonly baseUrl: string; readonly key: string }, body: object): Promise<unknown> {
  try {
    const answer = await chat(balancer, body)
    const text = await answer.text()
    if (answer.status !== 200) return `${answer.status} ${text}`
    const isWhole = 'stream' in body ? text.endsWith('data: [DONE]\n\n') : JSON.parse(text).choices.length === 1
    return isWhole ? undefined : `cut: ${text.slice(-200)}`
  } catch (error) {
    return String(error)
  }
}

/** Restarts each instance in turn under clients, and returns what failed. */
async function restartUnderLoad(
  port: number,
  { instances, key }: Awaited<ReturnType<typeof startTwo>>,
): Promise<{ readonly faults: unknown[]; readonly answers: { whole: number; streamed: number } }> {
  await untilReady(port)
  const balancer = { baseUrl: `http://127.0.0.1:${port}/v1`, key }
  const [faults, answers] = [[] as unknown[], { whole: 0, streamed: 0 }]
  let isOver = false
  const client = async (kind: 'whole' | 'streamed'): Promise<void> => {
    while (!isOver) {
      const fault = await faultOf(balancer, kind === 'whole' ? whole : streamed)
      if (fault === undefined) answers[kind]++
      else faults.push(fault)
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, i) => client(i % 2 === 0 ? 'whole' : 'streamed'))
  for (const instance of instances) {
    await Bun.sleep(500)
    await instance.restart()
    await untilReady(instance.port)
    // The balancer has to hear of it.
    await Bun.sleep(500)
  }
  isOver = true
  await Promise.all(clients)
  await Promise.all(instances.map((instance) => instance.stop()))
  return { faults, answers }
}

test('a rolling restart behind a balancer with health checks fails no request and cuts no stream', async () => {
  const two = await startTwo()
  const program = join(import.meta.dir, '../support/balancer.js')
  const port = await startBalancer(['node', program, ...two.instances.map((instance) => String(instance.port))])
  const { faults, answers } = await restartUnderLoad(port, two)
  expect(faults).toEqual([])
  expect(answers.whole).toBeGreaterThan(CLIENTS)
  expect(answers.streamed).toBeGreaterThan(CLIENTS)
}, 60_000)

/** Real balancers, where the machine has them. */
const real: readonly [string, (port: number, backends: readonly Instance[], folder: string) => readonly string[]][] = [
  [
    // It has no health checks, so it sends until the port is closed. It tries a refused connection elsewhere.
    'nginx',
    (port, backends, folder) => {
      const servers = backends.map((backend) => `server 127.0.0.1:${backend.port} max_fails=0;`).join(' ')
      writeFileSync(
        join(folder, 'nginx.conf'),
        `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {} http { access_log off;
         client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
         uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
         upstream gateways { ${servers} keepalive 64; }
         server { listen 127.0.0.1:${port}; location / { proxy_pass http://gateways; proxy_http_version 1.1;
         proxy_set_header Connection ""; proxy_buffering off; } } }`,
      )
      return ['nginx', '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')]
    },
  ],
  [
    // Its `round_robin` (2.6) misses the only ready gateway when requests come at the same time, and answers 503.
    'caddy',
    (port, backends, folder) => {
      const servers = backends.map((backend) => `127.0.0.1:${backend.port}`).join(' ')
      writeFileSync(
        join(folder, 'Caddyfile'),
        `{\n admin off\n auto_https off\n}\nhttp://127.0.0.1:${port} {\n reverse_proxy ${servers} {\n
         lb_policy random\n health_uri /readyz\n health_interval 100ms\n lb_try_duration 5s\n flush_interval -1\n }\n}\n`,
      )
      return ['caddy', 'run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
    },
  ],
]

for (const [name, commandOf] of real) {
  test.skipIf(!Bun.which(name))(
    `a rolling restart behind ${name} fails no request and cuts no stream`,
    async () => {
      const two = await startTwo()
      const [port, folder] = [await freePort(), freshFolder()]
      const child = Bun.spawn([...commandOf(port, two.instances, folder)], { stdout: 'ignore', stderr: 'ignore' })
      ends.push(
        () => child.kill(),
        () => rmSync(folder, { recursive: true, force: true }),
      )
      const { faults } = await restartUnderLoad(port, two)
      expect(faults).toEqual([])
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
  const body = JSON.stringify(whole)
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
