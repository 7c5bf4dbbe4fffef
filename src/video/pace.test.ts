import { expect, test } from 'bun:test'
import { progressOf, waitMs } from './poll-schedule.ts'

test('polls are further and further apart, up to eight times the first interval, and never at the same time', () => {
  const waits = Array.from({ length: 12 }, (_, looks) => waitMs({ firstMs: 2_000, looks, failures: 0 }, 0.5))
  expect(waits[0]).toBe(2_000)
  expect(waits).toEqual(waits.toSorted((a, b) => a - b))
  expect(waits.at(-1)).toBe(16_000)
  expect([0, 0.999].map((random) => Math.round(waitMs({ firstMs: 1_000, looks: 0, failures: 0 }, random)))).toEqual([
    800, 1_200,
  ])
})

test('a vendor that does not answer is polled at most every minute', () => {
  const waits = Array.from({ length: 20 }, (_, failures) => waitMs({ firstMs: 2_000, looks: failures, failures }, 0.5))
  expect(waits[1]).toBeGreaterThan(2 * (waits[0] ?? 0))
  expect(Math.max(...waits)).toBe(60_000)
})

test('progress rises with time and stage, and only the end is 100', () => {
  const upscale = { resolution: '2k', limit: undefined, scene: undefined, version: 'standard', fps: undefined } as const
  const wish = {
    resolution: '720p',
    ratio: undefined,
    seconds: 5,
    audio: true,
    withVideo: false,
    seed: 1,
    upscale,
  } as const
  const at = (stage: 'queued' | 'running' | 'upscaling' | 'storing', ms: number): number =>
    progressOf({ stage, wish }, ms)
  const seen = [
    at('queued', 10 ** 9),
    ...[0, 1_000, 60_000, 10 ** 9].map((ms) => at('running', ms)),
    ...[0, 60_000, 10 ** 9].map((ms) => at('upscaling', ms)),
    at('storing', 0),
  ]
  expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  expect([seen[0], seen.at(-1)]).toEqual([0, 95])
  // A clock that was set back does not reduce the progress.
  expect(at('running', -5_000)).toBe(5)
})
