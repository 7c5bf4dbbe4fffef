import { expect, spyOn, test } from 'bun:test'
import { Watchdog } from './watchdog.ts'

test('a limit longer than any timer works, without constant checks', async () => {
  const timers = spyOn(globalThis, 'setTimeout')
  let isExpired = false
  const watchdog = new Watchdog(1e12, { expired: () => (isExpired = true) })
  await Bun.sleep(200)
  watchdog.stop()
  expect(isExpired).toBe(false)
  expect(timers.mock.calls.length).toBeLessThan(3)
  timers.mockRestore()
})

test('consecutive limits share one timer, even while the older ones end', async () => {
  const timers = spyOn(globalThis, 'setTimeout')
  const expired: string[] = []
  const limits = (name: string, limitMs: number): Watchdog =>
    new Watchdog(limitMs, { expired: () => expired.push(name) })
  const running: Watchdog[] = []
  for (let i = 0; i < 20; i++) {
    running.push(limits('long', 60_000))
    if (i >= 5) running[i - 5]?.stop()
    await Bun.sleep(2)
  }
  expect(timers.mock.calls.filter(([, ms]) => Number(ms) > 1_000)).toHaveLength(1)
  timers.mockRestore()
  // A shorter limit does not wait for it, and is late by at most a sixteenth of itself.
  const startedMs = performance.now()
  running.push(limits('short', 160))
  while (expired.length === 0 && performance.now() - startedMs < 5_000) await Bun.sleep(2)
  expect(expired).toEqual(['short'])
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(158)
  for (const watchdog of running) watchdog.stop()
})
