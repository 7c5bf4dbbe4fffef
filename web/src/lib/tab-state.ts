import { useSyncExternalStore } from 'react'

export type TabState<T> = {
  readonly get: () => T
  readonly set: (next: T) => void
  /** The value in a component, which is redrawn when the value changes. */
  readonly use: () => T
}

/** State of this tab that is outside of its pages. */
export function tabState<T>(first: T): TabState<T> {
  let value = first
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const get = (): T => value
  return {
    get,
    set(next) {
      value = next
      for (const listener of listeners) listener()
    },
    use: () => useSyncExternalStore(subscribe, get),
  }
}
