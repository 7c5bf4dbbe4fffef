import { expectedTimes, timeReason } from './expected-time.ts'
import { scoredPolicy } from './scored.ts'

/**
 * The fastest first: by the time to the first event and the tokens a second, as measured for requests of similar size.
 * The score is in milliseconds.
 */
export const latency = scoredPolicy({
  name: 'latency',
  scoresOf: expectedTimes,
  reasonOf: timeReason,
  choices: 'two',
  equalUpTo: 1.2,
  // A warm prompt cache saves more time than that: 3,550 ms against 360 ms at one vendor.
  keepsUpTo: 2,
  exploration: 0.05,
})
