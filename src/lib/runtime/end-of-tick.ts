/** What has something to send. */
export type Flushable = { flush(): void }

let due: Flushable[] = []

function flushAll(): void {
  const now = due
  due = []
  for (const one of now) one.flush()
}

/**
 * Has `one` flushed once everything that has arrived by now is worked through. Writes that leave one after the other
 * find the kernel's code in the cache and their readers awake; scattered between the work on other requests, each
 * costs more than twice as much.
 */
export function flushAtEndOfTick(one: Flushable): void {
  if (due.push(one) === 1) setImmediate(flushAll)
}

/** Resolves in the next turn of the event loop, once others have had theirs. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Does something then. */
export const inNextTurn = (task: () => void, onError: (error: Error) => void): void =>
  void nextTurn().then(task).catch(onError)

/** A list in parts, each in a turn of its own: what is made of it keeps the others waiting for a part at most. */
export async function* inTurns<T>(all: readonly T[], size: number): AsyncGenerator<readonly T[], void> {
  for (let at = 0; at < all.length; at += size) {
    await nextTurn()
    yield all.slice(at, at + size)
  }
}
