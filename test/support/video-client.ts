/** A client of the video routes, with plain fetch. */
import type { TestGateway } from './gateway.ts'

export type Task = {
  readonly id: string
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed'
  readonly progress: number
  readonly metadata?: { readonly url: string }
  readonly error?: { readonly message: string; readonly code: string }
  readonly [field: string]: unknown
}
type Init = Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> }
type Of = Pick<TestGateway, 'baseUrl' | 'key'>

export const words = (text: string): object => ({ type: 'text', text })

export class VideoClient {
  private readonly of: Of

  constructor(of: Of) {
    this.of = of
  }

  get key(): string {
    return this.of.key
  }

  call(path: string, init: Init = {}): Promise<Response> {
    const { baseUrl, key } = this.of
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...init.headers }
    return fetch(path.startsWith('http') ? path : baseUrl + path, { ...init, headers })
  }

  /** A boat of five seconds, but for what is said. */
  create(body: object = {}, headers: Record<string, string> = {}): Promise<Response> {
    const whole = { model: 'seed', content: [words('a boat')], duration: 5, ...body }
    return this.call('/videos', { method: 'POST', body: JSON.stringify(whole), headers })
  }

  async made(body: object = {}): Promise<Task> {
    const response = await this.create(body)
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${response.status} ${text}`)
    return JSON.parse(text) as Task
  }

  async task(id: string): Promise<Task> {
    return (await (await this.call(`/videos/${id}`)).json()) as Task
  }

  /** The task once it has ended. */
  async ended(id: string, timeoutMs = 10_000): Promise<Task> {
    const untilMs = Date.now() + timeoutMs
    for (;;) {
      const task = await this.task(id)
      if (task.status === 'completed' || task.status === 'failed') return task
      if (Date.now() > untilMs) throw new Error(`${id} did not end: ${JSON.stringify(task)}`)
      await Bun.sleep(20)
    }
  }

  async money(): Promise<{ posted: string; held: string }> {
    const { posted, held } = (await (await this.call('/balance')).json()) as { posted: string; held: string }
    return { posted, held }
  }

  /** What `work` cost, in dollars; nothing may be held afterwards. */
  async cost(work: () => Promise<unknown>): Promise<string> {
    const before = await this.money()
    await work()
    const after = await this.money()
    if (after.held !== '0.00') throw new Error(`${after.held} is still held`)
    return (Number(before.posted) - Number(after.posted)).toFixed(6)
  }
}
