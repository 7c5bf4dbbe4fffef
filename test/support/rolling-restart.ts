/** Gateways behind a balancer, and clients that note every request that fails while the gateways restart in turn. */
import { expect } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { chat, freshFolder, startGateway, type TestGateway } from './gateway.ts'

const LAME_DUCK_MS = 1_000
const CLIENTS = 32
/** Clients of whole replies rest between two. Without it they only take the processor from the gateways. */
const REST_MS = 20
/** The balancer hears of a change within this time. */
const NOTICE_MS = 500

/** Streams of `paced` last longer than the lame duck. */
const YAML = `
models:
  paced: { price: { input: 1, output: 2 }, offers: [{ provider: sandbox, model: 'sandbox-chat!paceMs=30' }] }`

const ends: (() => void)[] = []

/** Ends the balancers and deletes the folders that this file has made. */
export function endBalancers(): void {
  for (const end of ends.splice(0)) end()
}

type Environment = Readonly<Record<string, string>>
type Owner = Pick<TestGateway, 'accountId' | 'key'>

/** Makes an account with a key, in a gateway that ends. Returns it with the folder of that gateway. */
export async function makeOwner(env: Environment = {}): Promise<Owner & Pick<TestGateway, 'folder'>> {
  const gateway = await startGateway({ yaml: YAML, env: { ...env, TOLLGATE_LAME_DUCK_MS: '0' } })
  process.kill(gateway.pid, 'SIGTERM')
  await gateway.exited
  return gateway
}

export type RestartedGateway = {
  readonly port: number
  /** Stops by SIGTERM, expects exit code 0, and starts again on the same port. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts a gateway that keeps its port through restarts. */
export async function startRestarted(folder: string, as: Owner, env: Environment = {}): Promise<RestartedGateway> {
  const start = (port: number): Promise<TestGateway> =>
    startGateway({
      folder,
      as,
      yaml: YAML,
      env: { ...env, PORT: String(port), TOLLGATE_LAME_DUCK_MS: String(LAME_DUCK_MS) },
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

export type BalancerName = 'balancer.js' | 'nginx' | 'caddy'

/** Starts a balancer in front of gateways, and returns its port. */
export async function startBalancer(name: BalancerName, gateways: readonly RestartedGateway[]): Promise<number> {
  const ports = gateways.map(({ port }) => port)
  if (name === 'balancer.js') return startOwnBalancer(ports)
  const [port, folder] = [freePort(), freshFolder()]
  const command = name === 'nginx' ? nginx(port, ports, folder) : caddy(port, ports, folder)
  const child = Bun.spawn([...command], { stdout: 'ignore', stderr: 'ignore' })
  ends.push(
    () => child.kill(),
    () => rmSync(folder, { recursive: true, force: true }),
  )
  return port
}

/** The first line of our own says where it listens. */
async function startOwnBalancer(ports: readonly number[]): Promise<number> {
  const command = ['node', join(import.meta.dir, 'balancer.js'), ...ports.map(String)]
  const child = Bun.spawn(command, { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  ends.push(() => child.kill())
  for await (const line of child.stdout) return Number(new TextDecoder().decode(line))
  throw new Error('the balancer did not start')
}

/** It has no health checks, so it sends until the port is closed. It tries a refused connection elsewhere. */
function nginx(port: number, ports: readonly number[], folder: string): readonly string[] {
  const servers = ports.map((backend) => `server 127.0.0.1:${backend} max_fails=0;`).join(' ')
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
}

/** At random: Caddy's round robin (2.6) misses the only ready gateway when requests come at the same time. */
function caddy(port: number, ports: readonly number[], folder: string): readonly string[] {
  const servers = ports.map((backend) => `127.0.0.1:${backend}`).join(' ')
  writeFileSync(
    join(folder, 'Caddyfile'),
    `{\n admin off\n auto_https off\n}\nhttp://127.0.0.1:${port} {\n reverse_proxy ${servers} {\n
     lb_policy random\n health_uri /readyz\n health_interval 100ms\n lb_try_duration 5s\n flush_interval -1\n }\n}\n`,
  )
  return ['caddy', 'run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile']
}

export async function isReady(port: number, host = '127.0.0.1'): Promise<boolean> {
  try {
    return (await fetch(`http://${host}:${port}/readyz`)).ok
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

export const wholeRequest = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'write 5 tokens' }] }
const streamedRequest = { model: 'paced', stream: true, messages: [{ role: 'user', content: 'write 60 tokens' }] }

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

type RollingOptions = {
  /** The port of the balancer. */
  readonly port: number
  readonly key: string
  /** Each gateway restarts once, and then again until there were so many answers. */
  readonly answersMin?: number
}

export type RollingReport = {
  readonly faults: unknown[]
  readonly answers: { whole: number; streamed: number }
  readonly restarts: number
}

/** Restarts each gateway in turn under 32 clients, stops them, and returns what failed. */
export async function restartUnderLoad(
  gateways: readonly RestartedGateway[],
  { port, key, answersMin = 0 }: RollingOptions,
): Promise<RollingReport> {
  await untilReady(port)
  const balancer = { baseUrl: `http://127.0.0.1:${port}/v1`, key }
  const [faults, answers] = [[] as unknown[], { whole: 0, streamed: 0 }]
  let isOver = false
  const client = async (kind: 'whole' | 'streamed'): Promise<void> => {
    while (!isOver) {
      const fault = await faultOf(balancer, kind === 'whole' ? wholeRequest : streamedRequest)
      if (fault === undefined) answers[kind]++
      else faults.push(fault)
      if (kind === 'whole') await Bun.sleep(REST_MS)
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, i) => client(i % 2 === 0 ? 'whole' : 'streamed'))
  let restarts = 0
  while (restarts < gateways.length || (answers.whole + answers.streamed < answersMin && faults.length === 0)) {
    const gateway = gateways[restarts++ % gateways.length] as RestartedGateway
    await Bun.sleep(NOTICE_MS)
    await gateway.restart()
    await untilReady(gateway.port)
    await Bun.sleep(NOTICE_MS)
  }
  isOver = true
  await Promise.all(clients)
  await Promise.all(gateways.map((one) => one.stop()))
  return { faults, answers, restarts }
}
