/** The intervals of polls, and the progress of a task. Pure: time and chance are passed in. */
import type { VideoTask } from '../domain/video-task.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'

/** The longest interval between polls of a task without failures, in units of the first interval. */
const STRETCH_MAX = 8
const STRETCH = 1.3
/** The same for polls without an answer. It is a minute if the first interval is two seconds. */
const FAILED_STRETCH_MAX = 30
/** Tasks that were made together are not polled together. */
const JITTER = 0.2

export type Patience = {
  /** The first interval after a change of stage. */
  readonly firstMs: number
  /** Polls since then. */
  readonly looks: number
  /** How many of the last polls had no answer. */
  readonly failures: number
}

/** How long to wait before the next poll. `random` is a number in [0, 1). */
export function waitMs({ firstMs, looks, failures }: Patience, random: number): number {
  const usual = Math.min(STRETCH ** looks, STRETCH_MAX)
  const patient = failures === 0 ? usual : Math.min(usual * 2 ** failures, FAILED_STRETCH_MAX)
  return firstMs * patient * (1 - JITTER + 2 * JITTER * random)
}

/** The time constant of estimated progress, for vendors that report none. After it, a stage has 63 % of its share. */
const TYPICAL_MS = MINUTE_MS

const shares = {
  running: [5, 90],
  /** For a task that is upscaled afterwards. */
  runningFirst: [5, 60],
  upscaling: [60, 90],
} as const

/** The progress of a task after this time in its stage. */
export function progressOf({ stage, wish }: Pick<VideoTask, 'stage' | 'wish'>, lastedMs: number): number {
  if (stage === 'submitting' || stage === 'queued') return 0
  if (stage === 'storing') return 95
  const [from, to] = shares[stage === 'upscaling' ? 'upscaling' : wish.upscale ? 'runningFirst' : 'running']
  return Math.floor(from + (to - from) * (1 - Math.exp(-Math.max(0, lastedMs) / TYPICAL_MS)))
}
