import type { Result } from '../admin/operations.ts'

export type ServerHandle = {
  readonly baseUrl: string
  /** The first account's key, if this start created it. It is shown once. */
  readonly firstKey: string | undefined
  /** The link at which the first operator of the console chooses a password. Undefined once there is an operator. */
  readonly setupUrl: string | undefined
  /** The name of the oldest account. It owns `firstKey`, and messages use it as an example. */
  readonly account: string
  readonly models: readonly string[]
  /** The models that this account may use. */
  readonly callable: readonly string[]
  readonly dataFolder: string
  /** Lets the server answer requests. */
  open(): void
  /** Is not ready and serves on, until other processes have taken over or `skip` resolves. */
  lameDuck(skip: Promise<void>): Promise<void>
  drain(): Promise<void>
}

/** The files of a certificate and its key. */
export type CertificateFacts =
  | { readonly kind: 'unusable'; readonly message: string }
  | {
      readonly kind: 'usable'
      /** `api.example.com, 127.0.0.1` */
      readonly names: string
      readonly beginMs: number
      readonly endMs: number
      readonly keyFile: string
      /** The permissions of the key's file. */
      readonly keyMode: number
      /** Whether the certificate is for the host of the public address, if there is one. */
      readonly coversPublicUrl: boolean
    }

/** The settings as this process reads them from its environment and `tollgate.yaml`. */
export type Settings = {
  readonly scheme: 'http' | 'https'
  /** The certificate of the port. Undefined if it speaks no TLS. */
  readonly certificate: CertificateFacts | undefined
  readonly host: string
  readonly port: number
  readonly dataFolder: string
  readonly configFile: string | undefined
  /** Whether instances share a database, instead of one owning the data folder. */
  readonly isShared: boolean
  readonly publicUrl: string | undefined
  /** Whether any proxy is trusted. */
  readonly trustsProxies: boolean
  /** By name, in the unit that the name ends in. */
  readonly limits: Readonly<Record<string, number>>
  /** The limits of a model that has none of its own, in the same form. */
  readonly modelLimits: Readonly<Record<string, number>>
  /** The limits that cannot be set, in the same form. */
  readonly fixedLimits: Readonly<Record<string, number>>
  /** What happens at a limit that cannot be set, by its name. */
  readonly limitEffects: Readonly<Record<string, string>>
}

export type PublicRouteView = {
  readonly methods: readonly string[]
  /** The path, then its aliases. */
  readonly paths: readonly string[]
  /** How the body of a request is read. */
  readonly reads: 'json' | 'form' | 'none'
  readonly limits: string
  /** The limits behind that word, by the names in the lists of limits. */
  readonly limitNames: readonly string[]
  readonly summary: string
}

/** The result of an operation, or a failure because there is no data folder yet. */
export type ControlAnswer = Result | { readonly ok: false; readonly code: 'no_data_folder'; readonly message: string }

/** A task of `tollgate db`. */
export type DatabaseTask =
  | { readonly kind: 'status' | 'migrate' | 'examine' }
  | { readonly kind: 'import' | 'export'; readonly folder: string }

/**
 * The functions that commands call. `main` provides them, so that commands know nothing of stores and servers. Each of
 * them reads the environment when it is called, and may throw ConfigError, DeclarationError, FolderInUse,
 * SecretMismatch and DatabaseTooNew.
 */
export type Program = {
  /** Runs an operation by name, in the running server or on the data folder itself. */
  operate(name: string, input: unknown): Promise<ControlAnswer>
  /** Runs an operation in the server that has the data folder. Undefined if there is no such server. */
  consult(name: string, input: unknown): Promise<Result | undefined>
  serve(): Promise<ServerHandle>
  /** Makes the data folder if there is none, and the first account with its key if no account has one. */
  firstKey(): Promise<string | undefined>
  /** Applies the declaration to the store. The value counts what it declares. */
  apply(): Promise<ControlAnswer>
  /** Works on the database that instances share. Fails if none is configured. */
  database(task: DatabaseTask): Promise<Result>
  settings(): Promise<Settings>
  /** The routes of the public port. */
  publicRoutes(): Promise<readonly PublicRouteView[]>
  /** The address of the server that has the data folder, or the one in the settings if none runs. */
  address(): Promise<Pick<Settings, 'scheme' | 'host' | 'port' | 'publicUrl'>>
  /** Restores a backup, named by its absolute path, to the data folder. */
  restore(request: { readonly file: string; readonly existing: 'kept' | 'replaced' }): Promise<Result>
  /** Binds the database to the current secrets, or to new ones. Says of each whether it was bound already. */
  adoptSecrets(): Promise<ControlAnswer>
}
