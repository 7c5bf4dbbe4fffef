import type { Result } from '../admin/operations.ts'

export type Serving = {
  readonly baseUrl: string
  /** The first account's key, when this start made it. It is shown once. */
  readonly firstKey: string | undefined
  readonly models: readonly string[]
  readonly drain: () => Promise<void>
}

/** What the commands can call on. `main` provides it, so that commands know nothing of stores and servers. */
export type Program = {
  /** Runs an operation by name, in the running server or on the data folder itself. */
  operate(name: string, input: unknown): Promise<Result>
  serve(): Promise<Serving>
}
