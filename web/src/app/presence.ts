import { focusManager } from '@tanstack/react-query'

/** Time without a sign of anybody, after which nobody is there. */
const AWAY_MS = 5 * 60_000
const signs = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const

/**
 * Pages ask again by themselves only as long as somebody is there, as they do while they can be seen: each question
 * keeps its session alive, and one that is left alone, its page in sight, has to end like any other.
 */
export function watchPresence(target: EventTarget = window, awayMs = AWAY_MS): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const isHere = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => focusManager.setFocused(false), awayMs)
    // As it is by itself: a page that cannot be seen is nobody's either.
    focusManager.setFocused(undefined)
  }
  for (const sign of signs) target.addEventListener(sign, isHere, { capture: true, passive: true })
  isHere()
}
