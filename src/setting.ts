/** Settings from the environment, and the error of one that cannot be used. */

export type Environment = Readonly<Record<string, string | undefined>>

/** A configuration that cannot be used. The message names the variable or the line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export function integer(
  env: Environment,
  name: string,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  const text = env[name]
  if (text === undefined || text === '') return fallback
  const value = Number(text)
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not '${text}'`)
}
