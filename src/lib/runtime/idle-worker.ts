import { MINUTE_MS } from '../primitives/units.ts'

const IDLE_MS = MINUTE_MS

/** The messages to the thread, and its answers. */
export type WorkerRequest<Question> = { readonly id: number; readonly question: Question }
export type WorkerResponse<Answer> = { readonly id: number; readonly answer: Answer }

type PendingRequest<Answer> = { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void }

/** A thread that answers one question at a time. It is started on demand, and ends after a minute without questions. */
export class IdleWorker<Question, Answer> {
  private readonly create: () => Worker
  private worker: Worker | undefined
  private idle: Timer | undefined
  private next = 1
  private readonly waiting = new Map<number, PendingRequest<Answer>>()

  constructor(create: () => Worker) {
    this.create = create
  }

  /** Rejects if the thread fails. */
  ask(question: Question): Promise<Answer> {
    clearTimeout(this.idle)
    const worker = (this.worker ??= this.start())
    return new Promise((resolve, reject) => {
      const id = this.next++
      this.waiting.set(id, { resolve, reject })
      worker.postMessage({ id, question } satisfies WorkerRequest<Question>)
    })
  }

  private start(): Worker {
    const worker = this.create()
    worker.unref()
    worker.onmessage = ({ data: { id, answer } }: MessageEvent<WorkerResponse<Answer>>) => this.tell(id, answer)
    worker.onerror = ({ message }) => {
      this.worker = undefined
      for (const { reject } of this.waiting.values()) reject(new Error(message))
      this.waiting.clear()
    }
    return worker
  }

  private tell(id: number, answer: Answer): void {
    this.waiting.get(id)?.resolve(answer)
    this.waiting.delete(id)
    if (this.waiting.size > 0 || !this.worker) return
    const { worker } = this
    this.idle = setTimeout(() => {
      this.worker = undefined
      worker.terminate()
    }, IDLE_MS).unref()
  }
}
