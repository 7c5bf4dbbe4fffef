/** The value, or undefined if it takes longer than `waitMs`. */
export async function soon<T>(promise: Promise<T>, waitMs: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), waitMs)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
