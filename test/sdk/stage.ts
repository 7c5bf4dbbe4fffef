/** Client → gateway → sandbox vendor, each in a process of its own, for the tests of one file. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { startGateway, startSandboxProcess, type TestGateway, type TestSandbox } from '../support/gateway.ts'
import type { ClientProcess } from './client-process.ts'
import type { AddressedCall, Command, Order, Replies, Reply, SeenError } from './protocol.ts'
import { countOf } from '../support/soaks.ts'
import { openTill, PRICE, type Member, type Till } from './till.ts'

/** How long a vendor is silent where that is what is tested. */
export const SILENCE_MS = countOf('silences') * 1_000

/** Public models and the faults of the upstream model behind each. */
const upstreams = {
  'org/chat': 'sandbox-chat',
  slow: 'sandbox-chat!pace=20',
  late: 'sandbox-chat!delayMs=10000',
  'begins-late': `sandbox-chat!delayMs=${SILENCE_MS}`,
  pauses: `sandbox-chat!stallAfterEvents=3,stallMs=${SILENCE_MS}`,
  'wrong-usage': 'sandbox-chat!wrongUsage',
  'no-usage': 'sandbox-chat!noUsage',
  'no-done': 'sandbox-chat!noDone',
  'fails-500': 'sandbox-chat!status=500',
  'fails-502': 'sandbox-chat!status=502',
  'fails-503': 'sandbox-chat!status=503',
  // The gateway itself asks once more.
  flaky: 'sandbox-chat!status=500,failTimes=2',
  rejects: 'sandbox-chat!status=400',
  cut: 'sandbox-chat!cutAfterBytes=4000,pace=2',
  breaks: 'sandbox-chat!errorEvent=8',
}

/** The gateway, its vendor and its accounts. */
export type Stage = Till & {
  readonly gateway: () => TestGateway
  /** How many requests reach the gateway while this runs. */
  readonly requestsDuring: (run: () => Promise<unknown>) => Promise<number>
}

/** Starts gateway and vendor before the tests of the file and stops them after. */
export function setStage(env: Readonly<Record<string, string>> = {}): Stage {
  let sandbox: TestSandbox
  let started: TestGateway | undefined
  beforeAll(async () => {
    sandbox = await startSandboxProcess()
    const models = Object.entries(upstreams).map(
      ([id, model]) => `  ${id}: { price: ${PRICE}, offers: [{ provider: vendor, model: '${model}' }] }`,
    )
    const vendor = `  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }`
    const yaml = ['sandbox: false', 'providers:', vendor, 'models:', ...models].join('\n')
    started = await startGateway({ yaml, env })
  }, 30_000)
  afterAll(async () => {
    await started?.close()
    await sandbox.stop()
  }, 30_000)
  const gateway = (): TestGateway => {
    if (started) return started
    throw new Error('the gateway is not up yet')
  }
  return { gateway, requestsDuring: (run) => requestsDuring(gateway(), run), ...openTill(gateway) }
}

async function requestsDuring(gateway: TestGateway, run: () => Promise<unknown>): Promise<number> {
  const before = await responses(gateway)
  await run()
  // The first look was a request to each process as well.
  return (await responses(gateway)) - before - gateway.pids.length
}

async function responses(gateway: TestGateway): Promise<number> {
  const text = await gateway.metrics()
  const counts = [...text.matchAll(/^tollgate_http_responses_total\{.*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Whose key the client uses, and at which address when it is not the gateway's. */
type Someone = Pick<Member, 'key'> & { readonly baseUrl?: string }

/** A client process and its orders. */
export type Clerk = {
  /** What the client made of the answer; fails when the client threw. */
  ask<Name extends Command>(member: Someone, command: Name, order?: Order): Promise<Replies[Name]>
  /** What the client threw; fails when it did not. */
  failing(member: Someone, command: Command, order?: Order): Promise<SeenError>
}

export type ClerkOptions = {
  readonly baseUrl: () => string
  readonly start: () => ClientProcess | Promise<ClientProcess>
}

/** Starts the client before the tests of the block and stops it after. */
export function hireClerk({ start, baseUrl }: ClerkOptions): Clerk {
  let client: ClientProcess | undefined
  beforeAll(async () => {
    client = await start()
  })
  afterAll(async () => {
    await client?.stop()
  })
  const obey = ({ key, baseUrl: other }: Someone, order: Omit<AddressedCall, 'key' | 'baseUrl'>): Promise<Reply> => {
    if (!client) throw new Error('the client is not up yet')
    return client.obey({ ...order, key, baseUrl: other ?? baseUrl() })
  }
  return {
    async ask<Name extends Command>(member: Someone, command: Name, order: Order = {}) {
      const reply = await obey(member, { ...order, command })
      if ('error' in reply) throw new Error(`${command}: ${reply.error.name}: ${reply.error.message}`)
      return reply.seen as Replies[Name]
    },
    async failing(member, command, order = {}) {
      const reply = await obey(member, { ...order, command })
      expect(reply).toHaveProperty('error')
      return 'error' in reply ? reply.error : expect.unreachable()
    },
  }
}
