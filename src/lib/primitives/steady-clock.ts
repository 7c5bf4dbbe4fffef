const STARTED_UNIX_MS = performance.timeOrigin

/**
 * The Unix time in milliseconds, by a clock that never jumps. If the machine's clock is set, the two differ until the
 * next start. Rests and measured times use it: by a clock that was set back, a rest would last longer.
 */
export const steadyNowMs = (): number => STARTED_UNIX_MS + performance.now()
