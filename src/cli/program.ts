import type { Result } from '../admin/operations.ts'

export type ServerHandle = {
  readonly baseUrl: string
  /** The first account's key, when this start made it. It is shown once. */
  readonly firstKey: string | undefined
  /** Where the first operator of the console chooses a password; undefined once there is one. */
  readonly setupUrl: string | undefined
  /** The name of the oldest account: whose key `firstKey` is, and an example for messages. */
  readonly account: string
  readonly models: readonly string[]
  /** The models that this account may use. */
  readonly callable: readonly string[]
  readonly dataFolder: string
  /** From now on the server answers. */
  open(): void
  drain(): Promise<void>
}

/** The settings as this process reads them from its environment and `tollgate.yaml`. */
export type Settings = {
  readonly host: string
  readonly port: number
  readonly dataFolder: string
  readonly configFile: string | undefined
  readonly publicUrl: string | undefined
  /** Whether any proxy is trusted. */
  readonly trustsProxies: boolean
  /** By name, in the unit that the name ends in. */
  readonly limits: Readonly<Record<string, number>>
  /** The same of a model that has none of its own. */
  readonly modelLimits: Readonly<Record<string, number>>
  /** The same of what cannot be set. */
  readonly fixedLimits: Readonly<Record<string, number>>
}

/** An operation's result, or that there is nothing yet to operate on. */
export type ControlAnswer = Result | { readonly ok: false; readonly code: 'no_data_folder'; readonly message: string }

/**
 * What the commands can call on. `main` provides it, so that commands know nothing of stores and servers. All of it
 * reads the environment when it is called, and may throw ConfigError, DeclarationError, FolderInUse,
 * SecretMismatch and DatabaseTooNew.
 */
export type Program = {
  /** Runs an operation by name, in the running server or on the data folder itself. */
  operate(name: string, input: unknown): Promise<ControlAnswer>
  /** Runs an operation only where a server has the data folder. Undefined when none has. */
  consult(name: string, input: unknown): Promise<Result | undefined>
  serve(): Promise<ServerHandle>
  /** Makes the data folder if there is none, and the first account with its key if no account has one. */
  firstKey(): Promise<string | undefined>
  settings(): Promise<Settings>
  /** Of the server that has the data folder; as the settings have it while none runs. */
  address(): Promise<Pick<Settings, 'host' | 'port' | 'publicUrl'>>
  /** Puts a backup, named by its absolute path, in the data folder. */
  restore(request: { readonly file: string; readonly existing: 'kept' | 'replaced' }): Promise<Result>
  /** Makes the secrets in force, or new ones, the database's own; says of each whether it was already. */
  adoptSecrets(): Promise<ControlAnswer>
}
