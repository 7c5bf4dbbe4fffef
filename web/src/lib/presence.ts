/** Detects whether somebody uses this page, by mouse, touch and keyboard. */

/** Longer than the interval of the pages' polls. Otherwise an hour of mouse use alone would not count as presence. */
const AWAY_MS = 90_000
let seenMs = performance.now()

const see = (): void => {
  seenMs = performance.now()
}
for (const type of ['pointermove', 'pointerdown', 'keydown', 'wheel']) {
  addEventListener(type, see, { capture: true, passive: true })
}

export const isAttended = (): boolean => performance.now() - seenMs < AWAY_MS
