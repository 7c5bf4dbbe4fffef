/** The processes that decode pictures. They are started on demand, and replaced if they fail or grow. */
import type { PictureLook, PictureTask } from './picture-job.ts'
import { PictureProcess, type DecodedPicture } from './picture-process.ts'
import { Slots, type SlotRequest } from '../primitives/slots.ts'
import { MIB, MINUTE_MS } from '../primitives/units.ts'
import { limit } from '../primitives/limit.ts'

export const decoderBounds = {
  /** The most processes at work. */
  processesMax: limit('imageDecodersMax', 2, 'Further images wait to be decoded.'),
  /** The time for one image of an upstream from its start. The largest take a few seconds. */
  timeoutMs: limit('imageDecodingTimeoutMs', MINUTE_MS, 'An image of an upstream that takes longer to decode is lost.'),
  /** The memory of each process, also as a part of the gateway's memory. */
  bytesMax: limit(
    'imageDecoderBytesMax',
    320 * MIB,
    'A decoder that needs more memory is stopped, and its image counts as too large.',
  ),
  memoryPart: 1 / 4,
  bytesMin: 160 * MIB,
  /** A process that is larger after its work is not kept. */
  keptBytesMax: 128 * MIB,
  /** A process without work ends after this time. */
  idleMs: limit('imageDecoderIdleMs', 10_000, 'A decoder without work for this time is stopped.'),
}

const UNREADABLE: DecodedPicture = { said: { kind: 'unreadable' } satisfies PictureLook, bytes: Buffer.alloc(0) }
const TOO_HEAVY: DecodedPicture = { said: { kind: 'too_heavy' } satisfies PictureLook, bytes: Buffer.alloc(0) }

export class Decoders {
  /** The number of processes that ended before they answered. */
  lostInAll = 0
  private readonly slots = new Slots(decoderBounds.processesMax)
  private readonly idle: PictureProcess[] = []
  private readonly busy = new Set<PictureProcess>()
  private readonly bytesMaxOf: (memoryBytes: number) => number
  private readonly idleMs: number
  private bytesMax: number
  private timer: Timer | undefined

  constructor(bytesMaxOf = partOf, idleMs = decoderBounds.idleMs) {
    this.bytesMaxOf = bytesMaxOf
    this.idleMs = idleMs
    this.bytesMax = bytesMaxOf(Number.POSITIVE_INFINITY)
  }

  /** Sets the gateway's memory limit. Each decoder may use a part of it. */
  fitInto(memoryBytes: number): void {
    this.bytesMax = this.bytesMaxOf(memoryBytes)
  }

  get pids(): readonly number[] {
    return [...this.idle, ...this.busy].map(({ pid }) => pid)
  }

  get size(): number {
    return this.idle.length + this.busy.size
  }

  /** The memory of all processes at this moment. */
  get memoryBytes(): number {
    return [...this.idle, ...this.busy].reduce((sum, one) => sum + one.memoryBytes, 0)
  }

  /** Rejects with `TooLate` after the deadline of the slot, and with `NoDecoder` if no process can be started. */
  decode(input: Buffer | string, task: PictureTask, slot: SlotRequest): Promise<DecodedPicture> {
    return this.slots.run(async () => {
      const untilMs = slot.untilMs ?? performance.now() + decoderBounds.timeoutMs
      const first = await this.once(input, task, untilMs)
      // A system that is short of memory may have killed the process for another's sake, so there is a second try.
      const last = first === 'died' ? await this.once(input, task, untilMs) : first
      if (last === 'memory') return TOO_HEAVY
      return typeof last === 'string' ? UNREADABLE : last
    }, slot)
  }

  /** Ends all processes. Their current work is lost. */
  stop(): void {
    this.endIdle()
    for (const one of this.busy) one.stop()
  }

  endIdle(): void {
    clearTimeout(this.timer)
    for (const one of this.idle.splice(0)) one.stop()
  }

  private async once(input: Buffer | string, task: PictureTask, untilMs: number): ReturnType<PictureProcess['decode']> {
    const one = this.taken()
    this.busy.add(one)
    const decoded = await one.decode(input, task, untilMs)
    this.busy.delete(one)
    if (typeof decoded === 'string') this.lostInAll++
    else this.keep(one)
    return decoded
  }

  private taken(): PictureProcess {
    for (let one = this.idle.pop(); one; one = this.idle.pop()) if (!one.isGone) return one
    return new PictureProcess(this.bytesMax)
  }

  private keep(one: PictureProcess): void {
    if (one.residentBytes > decoderBounds.keptBytesMax) return one.stop()
    this.idle.push(one)
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.endIdle(), this.idleMs).unref()
  }
}

function partOf(memoryBytes: number): number {
  const { bytesMax, bytesMin, memoryPart } = decoderBounds
  return Math.round(Math.max(bytesMin, Math.min(bytesMax, memoryBytes * memoryPart)))
}
