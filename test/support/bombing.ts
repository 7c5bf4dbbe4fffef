/** Sends bombs to a gateway and measures their effect on other requests. */
import { readFileSync } from 'node:fs'
import { chat, type TestGateway } from './gateway.ts'
import type { Bomb } from '../load/malformed/bomb.ts'
import { MIB } from '../../src/lib/primitives/units.ts'

const PAGE_BYTES = 4_096

/** Resident memory of a process in MIB. */
export const rssMb = (pid: number): number =>
  (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES) / MIB

export type Toll = {
  /** Resident memory above that of the idle gateway, in MIB. */
  readonly peakMb: number
  readonly p99Ms: number
  readonly statuses: ReadonlyMap<number, number>
}

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0

/** A client who asks for a word, again and again, of a model that is not the bombs'. */
class HealthyClient {
  readonly tookMs: number[] = []
  private isDone = false
  private readonly gateway: TestGateway
  private readonly model: string
  private readonly running: Promise<void>

  constructor(gateway: TestGateway, model: string) {
    this.gateway = gateway
    this.model = model
    this.running = this.run()
  }

  async stop(): Promise<readonly number[]> {
    this.isDone = true
    await this.running
    return this.tookMs
  }

  private async run(): Promise<void> {
    while (!this.isDone) {
      const startedMs = performance.now()
      const answer = await chat(this.gateway, { model: this.model, max_tokens: 4 })
      await answer.text()
      if (answer.status !== 200) throw new Error(`the healthy client got ${answer.status}`)
      this.tookMs.push(performance.now() - startedMs)
      await Bun.sleep(10)
    }
  }
}

/** What a healthy client waits while there is nobody else. */
export async function quietP99Ms(gateway: TestGateway, model: string): Promise<number> {
  const client = new HealthyClient(gateway, model)
  await Bun.sleep(2_000)
  return percentile(await client.stop(), 0.99)
}

export type Bombing = {
  readonly key: string
  readonly healthyModel: string
  readonly idleMb: number
  readonly senders: number
}

/** Sends each bomb, so many at a time. Throws where one is answered with the gateway's fault. */
export async function sendBombs(gateway: TestGateway, bombs: readonly Bomb[], bombing: Bombing): Promise<Toll> {
  const { key, healthyModel, idleMb, senders } = bombing
  const statuses = new Map<number, number>()
  // Written before anybody waits: this process is the healthy client, too.
  const written = bombs.map(({ name, path, body }) => ({ name, path, text: JSON.stringify(body) }))
  let peakMb = 0
  const sampling = setInterval(() => {
    peakMb = Math.max(peakMb, rssMb(gateway.pid) - idleMb)
  }, 20)
  const healthy = new HealthyClient(gateway, healthyModel)
  const work = written.values()
  const send = async (): Promise<void> => {
    for (const bomb of work) {
      const status = await sendBomb(gateway.baseUrl, key, bomb)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  try {
    await Promise.all(Array.from({ length: senders }, send))
    return { peakMb, p99Ms: percentile(await healthy.stop(), 0.99), statuses }
  } finally {
    clearInterval(sampling)
  }
}

const BOMB_MS_MAX = 60_000

type BombFile = { readonly name: string; readonly path: string; readonly text: string }

async function sendBomb(baseUrl: string, key: string, { name, path, text: body }: BombFile): Promise<number> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
  }
  const init = { method: 'POST', headers, body, signal: AbortSignal.timeout(BOMB_MS_MAX) }
  const answer = await fetch(new URL(path, baseUrl), init)
  const text = await answer.text()
  if (answer.status >= 500) throw new Error(`${name}: ${answer.status} ${text.slice(0, 500)}`)
  return answer.status
}

/** Waits until the memory is back, at most 30 s; what is left above the idle gateway's, in MIB. */
export async function leftMb(gateway: TestGateway, idleMb: number, wantedMb: number): Promise<number> {
  const untilMs = performance.now() + 30_000
  let left = rssMb(gateway.pid) - idleMb
  while (left > wantedMb && performance.now() < untilMs) {
    await Bun.sleep(500)
    left = rssMb(gateway.pid) - idleMb
  }
  return left
}
