/**
 * A time limit that progress extends. Setting and clearing a timer costs a request more than noting a time, so one
 * timer checks all limits. No limit is late by more than a sixteenth of itself, or 250 ms at most.
 */
import { NOWHERE, Roster, type RosterMember } from '../lib/primitives/roster.ts'
import { DAY_MS } from '../lib/primitives/units.ts'

/** A timer holds 24 days. One for longer fires at once, over and over, as long as a request runs. */
const WAIT_MAX_MS = DAY_MS

const watching = new Roster<Watchdog>()
let timer: Timer | undefined
let wakeAtMs = Number.POSITIVE_INFINITY

function wakeFor(deadlineMs: number, nowMs: number): void {
  const waitMs = Math.min(WAIT_MAX_MS, Math.max(1, deadlineMs - nowMs))
  // A wake-up that is a little late serves slightly longer limits as well.
  const atMs = nowMs + waitMs + Math.min(waitMs / 16, 250)
  if (atMs >= wakeAtMs) return
  clearTimeout(timer)
  wakeAtMs = atMs
  timer = setTimeout(look, atMs - nowMs).unref()
}

function look(): void {
  const nowMs = performance.now()
  wakeAtMs = Number.POSITIVE_INFINITY
  let soonestMs = Number.POSITIVE_INFINITY
  for (const watchdog of watching) soonestMs = Math.min(soonestMs, watchdog.check(nowMs))
  if (soonestMs < Number.POSITIVE_INFINITY) wakeFor(soonestMs, nowMs)
}

/** Is called when the time is up. */
type WatchdogListener = { expired(): void }

export class Watchdog implements RosterMember {
  place = NOWHERE
  private readonly watched: WatchdogListener
  private limitMs: number
  private lastMs = performance.now()
  private resting = false

  constructor(limitMs: number, watched: WatchdogListener) {
    this.limitMs = limitMs
    this.watched = watched
    watching.add(this)
    wakeFor(this.lastMs + limitMs, this.lastMs)
  }

  /** The time that is left of the limit. */
  get leftMs(): number {
    return this.limitMs - (performance.now() - this.lastMs)
  }

  /** Stops the limit. A slow reader is not the upstream's silence. */
  rest(): void {
    this.resting = true
  }

  /** Allows `limitMs` of silence from now on. */
  beat(limitMs: number): void {
    this.resting = false
    this.lastMs = performance.now()
    this.limitMs = limitMs
    wakeFor(this.lastMs + limitMs, this.lastMs)
  }

  stop(): void {
    watching.delete(this)
  }

  /** Calls the listener when the time is up. Returns when to check again. */
  check(nowMs: number): number {
    const deadlineMs = (this.resting ? nowMs : this.lastMs) + this.limitMs
    if (deadlineMs > nowMs + 1) return deadlineMs
    this.stop()
    this.watched.expired()
    return Number.POSITIVE_INFINITY
  }
}
