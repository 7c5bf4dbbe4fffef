/** How often a vendor is asked, and how far a task has come. Pure: time and chance are passed in. */
import type { VideoTask } from '../domain/video-task.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'

/** The longest time between two looks at a task that goes well, in units of the first. */
const STRETCH_MAX = 8
const STRETCH = 1.3
/** The same where no answer comes: a minute, at two seconds for the first. */
const FAILED_STRETCH_MAX = 30
/** Tasks that were made together are not asked after together. */
const JITTER = 0.2

export type Patience = {
  /** After a change of stage. */
  readonly firstMs: number
  /** Looks since then. */
  readonly looks: number
  /** Of them, the last ones that brought no answer. */
  readonly failures: number
}

/** How long to wait before the next look. `random`: a number in [0, 1). */
export function waitMs({ firstMs, looks, failures }: Patience, random: number): number {
  const usual = Math.min(STRETCH ** looks, STRETCH_MAX)
  const patient = failures === 0 ? usual : Math.min(usual * 2 ** failures, FAILED_STRETCH_MAX)
  return firstMs * patient * (1 - JITTER + 2 * JITTER * random)
}

/** Most vendors say nothing of it: it is told from the time. It takes so long to two thirds of a stage's share. */
const TYPICAL_MS = MINUTE_MS

const shares = {
  running: [5, 90],
  /** Of a task that is upscaled afterwards. */
  runningFirst: [5, 60],
  upscaling: [60, 90],
} as const

/** Progress of a stage that has lasted so long. */
export function progressOf({ stage, wish }: Pick<VideoTask, 'stage' | 'wish'>, lastedMs: number): number {
  if (stage === 'submitting' || stage === 'queued') return 0
  if (stage === 'storing') return 95
  const [from, to] = shares[stage === 'upscaling' ? 'upscaling' : wish.upscale ? 'runningFirst' : 'running']
  return Math.floor(from + (to - from) * (1 - Math.exp(-Math.max(0, lastedMs) / TYPICAL_MS)))
}
