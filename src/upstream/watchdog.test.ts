import { expect, spyOn, test } from 'bun:test'
import { Watchdog } from './watchdog.ts'

test('a limit that no timer can hold is waited for all the same, and not by looking all the time', async () => {
  const timers = spyOn(globalThis, 'setTimeout')
  let isExpired = false
  const watchdog = new Watchdog(1e12, { expired: () => (isExpired = true) })
  await Bun.sleep(200)
  watchdog.stop()
  expect(isExpired).toBe(false)
  expect(timers.mock.calls.length).toBeLessThan(3)
  timers.mockRestore()
})
