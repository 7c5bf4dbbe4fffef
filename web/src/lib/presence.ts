/** Whether somebody is at this page: what they do with mouse, fingers and keys says so. */

/** Longer than the pages' own questions are apart, or an hour at the mouse alone would leave no trace of anybody. */
const AWAY_MS = 90_000
let seenMs = performance.now()

const see = (): void => {
  seenMs = performance.now()
}
for (const type of ['pointermove', 'pointerdown', 'keydown', 'wheel']) {
  addEventListener(type, see, { capture: true, passive: true })
}

export const isAttended = (): boolean => performance.now() - seenMs < AWAY_MS
