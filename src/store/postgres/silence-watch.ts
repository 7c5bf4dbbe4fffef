/**
 * Watches the other instances for signs of life. No clocks are compared: an instance is silent once this process has
 * seen the same sign for 20 s, by its own monotonic clock, in polls that all succeeded. After an outage of the database
 * nobody is silent until somebody has watched for 20 s again.
 */
import { limit } from '../../lib/primitives/limit.ts'
import { statement } from '../statement.ts'
import type { Store } from '../store.ts'

/** An instance and the sign of life that it has not renewed. */
export type SilentInstance = { readonly id: string; readonly beat: string }

/** An instance must have stopped serving before the others declare it dead. */
export const CUT_OFF_MS = limit(
  'instanceCutOffMs',
  14_000,
  'An instance whose writes do not reach the database for this time ends its running requests.',
)
const SILENT_MS = limit(
  'instanceSilentMs',
  20_000,
  'An instance without a sign of life for this time is declared dead. Its open holds expire.',
)
const POLL_MS = 1_000
/** After a longer pause between polls, this process was asleep, or the database was away. It has not watched then. */
const GAP_POLLS = 4

const SELECT_OTHERS =
  "SELECT id, CAST(beat AS text) AS beat FROM instance WHERE id <> ? AND state IN ('alive', 'draining')"
/** The rows of instances that ended long ago. */
const forgetEnded = statement(
  "DELETE FROM instance WHERE state IN ('gone', 'dead') AND beat < clock_timestamp() - interval '1 day'",
)
const FORGET_POLLS = 3_600

export type SilenceOptions = {
  /** Called for a silent instance, again with each poll while it stays in the table. */
  readonly onSilent: (silent: SilentInstance) => Promise<void>
  /** Called with each poll: the number of instances that have not ended, with this one. */
  readonly onCount?: (instances: number) => void
  readonly silentMs?: number
  readonly pollMs?: number
}

export class SilenceWatch {
  private readonly store: Pick<Store, 'query' | 'write' | 'instance'>
  private readonly options: Required<Omit<SilenceOptions, 'onCount'>> & Pick<SilenceOptions, 'onCount'>
  private readonly seen = new Map<string, { readonly beat: string; readonly sinceMs: number }>()
  private polledMs = Number.NEGATIVE_INFINITY
  private polls = 0
  private running: Promise<void> | undefined
  private readonly timer: Timer

  constructor(store: Pick<Store, 'query' | 'write' | 'instance'>, options: SilenceOptions) {
    this.store = store
    this.options = { silentMs: SILENT_MS, pollMs: POLL_MS, ...options }
    this.timer = setInterval(() => this.start(), this.options.pollMs)
    this.start()
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.running
  }

  private start(): void {
    this.running ??= this.poll()
      // A poll that failed has seen nothing.
      .catch(() => this.seen.clear())
      .finally(() => (this.running = undefined))
  }

  private async poll(): Promise<void> {
    const { pollMs, silentMs, onSilent, onCount } = this.options
    const nowMs = performance.now()
    if (nowMs - this.polledMs > GAP_POLLS * pollMs) this.seen.clear()
    const rows = await this.store.query(SELECT_OTHERS, [this.store.instance ?? ''])
    this.polledMs = nowMs
    onCount?.(rows.length + 1)
    const others = new Map(rows.map(({ id, beat }) => [String(id), String(beat)]))
    for (const id of this.seen.keys()) if (!others.has(id)) this.seen.delete(id)
    for (const [id, beat] of others) {
      const seen = this.seen.get(id)
      if (seen?.beat !== beat) this.seen.set(id, { beat, sinceMs: nowMs })
      else if (nowMs - seen.sinceMs >= silentMs) await onSilent({ id, beat })
    }
    if (++this.polls % FORGET_POLLS === 0) await this.store.write([{ run: forgetEnded, bind: [] }], 'bulk')
  }
}
