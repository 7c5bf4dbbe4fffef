/** The bytes that each owner keeps on disk, within one bound for each. */
import { MINUTE_MS, SECOND_MS } from './units.ts'

export type KeptBytesOptions = {
  /** The most that one owner may keep. */
  readonly max: number
  /**
   * Reads how much an owner keeps, if other processes keep and delete for the same owners. It is called when the owner
   * first needs room, and then now and then.
   * The bound is exact up to what the others have kept since.
   */
  readonly recount?: ((owner: string) => Promise<number>) | undefined
}

type KeptCount = {
  onDisk: number
  reserved: number
  /** When it last changed, and when it was last read. */
  changedMs: number
  readMs: number
  /** Waits for a quiet moment. */
  waiting: Timer | undefined
}

/** How old a count may be: of an owner with room, and of one without. */
const COUNT_MS = 5 * MINUTE_MS
const FULL_COUNT_MS = 5 * SECOND_MS
/** What is counted here is on disk after this time. A busy owner is counted anyway after the second time. */
const QUIET_MS = SECOND_MS
const QUIET_MS_MAX = MINUTE_MS

export class KeptBytes {
  private readonly options: KeptBytesOptions
  /** Entries are never removed. Entries that come and go with every request would be work for the collector. */
  private readonly owners = new Map<string, KeptCount>()

  constructor(options: KeptBytesOptions) {
    this.options = options
  }

  /** What is on disk, and what is reserved. */
  takenBy(owner: string): number {
    const kept = this.owners.get(owner)
    return kept ? kept.onDisk + kept.reserved : 0
  }

  /** Counts bytes that will be kept. Returns false and counts nothing if they do not fit. */
  take(owner: string, bytes: number): boolean {
    const fits = this.fits(owner, bytes)
    if (fits) this.count(owner, bytes)
    return fits
  }

  /** Counts bytes that are kept already, whether or not they fit. */
  count(owner: string, bytes: number): void {
    this.change(this.of(owner), bytes)
  }

  /** Counts bytes that are kept no longer. */
  give(owner: string, bytes: number): void {
    this.change(this.of(owner), -bytes)
  }

  /** Reserves room for bytes that may be kept later. Returns false and reserves nothing if they do not fit. */
  reserve(owner: string, bytes: number): boolean {
    const fits = this.fits(owner, bytes)
    if (fits) this.of(owner).reserved += bytes
    return fits
  }

  unreserve(owner: string, bytes: number): void {
    this.of(owner).reserved -= bytes
  }

  private fits(owner: string, bytes: number): boolean {
    const kept = this.of(owner)
    const fits = bytes === 0 || kept.onDisk + kept.reserved + bytes <= this.options.max
    const { recount } = this.options
    if (!recount) return fits
    const nowMs = performance.now()
    const ageMs = nowMs - kept.readMs
    if (!fits && ageMs > FULL_COUNT_MS) void this.recount(kept, () => recount(owner))
    else if (ageMs > COUNT_MS) kept.waiting ??= this.recountInQuiet(kept, () => recount(owner), nowMs + QUIET_MS_MAX)
    return fits
  }

  private of(owner: string): KeptCount {
    let kept = this.owners.get(owner)
    if (!kept) {
      kept = { onDisk: 0, reserved: 0, changedMs: 0, readMs: Number.NEGATIVE_INFINITY, waiting: undefined }
      this.owners.set(owner, kept)
    }
    return kept
  }

  private change(kept: KeptCount, bytes: number): void {
    kept.onDisk = Math.max(0, kept.onDisk + bytes)
    kept.changedMs = performance.now()
  }

  private recountInQuiet(kept: KeptCount, read: () => Promise<number>, untilMs: number): Timer {
    return setTimeout(() => {
      const nowMs = performance.now()
      const isQuiet = nowMs - kept.changedMs >= QUIET_MS || nowMs >= untilMs
      kept.waiting = isQuiet ? undefined : this.recountInQuiet(kept, read, untilMs)
      if (isQuiet) void this.recount(kept, read)
    }, QUIET_MS).unref()
  }

  /** A count is dropped if something changed meanwhile, because nobody knows whether it has the change. */
  private async recount(kept: KeptCount, read: () => Promise<number>): Promise<void> {
    const startedMs = performance.now()
    kept.readMs = startedMs
    try {
      const onDisk = await read()
      if (kept.changedMs < startedMs) kept.onDisk = onDisk
    } catch {
      // A database that does not answer is noticed elsewhere. The count is repeated later.
    }
  }
}
