/** An object with something to send. */
export type Flushable = { flush(): void }

let due: Flushable[] = []

function flushAll(): void {
  const now = due
  due = []
  for (const one of now) one.flush()
}

/**
 * Flushes `one` after everything that has arrived is processed. Consecutive writes find the kernel's code in the cache
 * and their readers awake. Between work on other requests, each write costs more than twice as much.
 */
export function flushAtEndOfTick(one: Flushable): void {
  if (due.push(one) === 1) setImmediate(flushAll)
}

/** Resolves in the next turn of the event loop, after other work. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Runs a task in the next turn. */
export const inNextTurn = (task: () => void, onError: (error: Error) => void): void =>
  void nextTurn().then(task).catch(onError)

/** Yields a list in parts, each in its own turn. Work on the list delays other work by at most one part. */
export async function* inTurns<T>(all: readonly T[], size: number): AsyncGenerator<readonly T[], void> {
  for (let at = 0; at < all.length; at += size) {
    await nextTurn()
    yield all.slice(at, at + size)
  }
}
