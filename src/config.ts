/** Configuration: the environment and `tollgate.yaml`, read once into one frozen value. A mistake stops the start. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { S3Settings } from './blobs/bucket-settings.ts'
import { databaseUrl, workersOf, type WorkerSettings } from './cluster-settings.ts'
import { configuredLimits, type ConfiguredLimits } from './configured-limits.ts'
import type { Declaration, DeclaredCatalog, DeclaredWildcard } from './declaration.ts'
import type { ModelDraft, ProviderDraft } from './domain/catalog.ts'
import type { LogLevel } from './lib/runtime/log.ts'
import { maskedAddress } from './lib/primitives/masked-address.ts'
import { TrustedProxies } from './lib/http/trusted-proxies.ts'
import { EnvironmentProxies } from './outbound/environment-proxies.ts'
import { parseMarkUp, type MarkUp } from './prices/mark-up.ts'
import { modelsBehind, modelsOfVendors } from './prices/vendor-models.ts'
import { isSendableKey, presets, UNSENDABLE_KEY } from './vendors/presets.ts'
import type { TelemetrySettings } from './telemetry/settings.ts'
import { ConfigError, integer, type Environment } from './setting.ts'
import { sandboxModels, sandboxProvider } from './sandbox-provider.ts'

/** Paths of PEM files. The first certificate of `certFile` is the one of the key. */
export type CertificateFiles = { readonly certFile: string; readonly keyFile: string }

type SandboxFor = 'first_account' | 'everyone'

export type Config = WorkerSettings & {
  readonly host: string
  readonly port: number
  /** The certificate and the key of the port of clients. Without them it speaks no TLS. */
  readonly tls: CertificateFiles | undefined
  readonly dataFolder: string
  /** The PostgreSQL database that several instances share. Without it, the data folder holds everything. */
  readonly databaseUrl: string | undefined
  /** Base of the links that the gateway hands out. Without it, and on a loopback address, the request names it. */
  readonly publicUrl: string | undefined
  /** Whether people who are not signed in see models and their prices. */
  readonly publicModels: 'shown' | 'hidden'
  /** Origins of web pages that may call the API from a browser. `*` means all. */
  readonly corsOrigins: readonly string[]
  /** Addresses and ranges whose `X-Forwarded-For` counts. */
  readonly trustedProxies: TrustedProxies
  /** The proxies that requests to vendors go through. */
  readonly outboundProxies: EnvironmentProxies
  /** The token that opens `/metrics` on the API's port. */
  readonly metricsToken: string | undefined
  /** A separate port for `/metrics`, `/healthz` and `/readyz`, without a token. */
  readonly metricsPort: number | undefined
  readonly metricsHost: string
  readonly logLevel: LogLevel
  readonly limits: ConfiguredLimits
  /** Where traces and metrics are sent. Undefined: nowhere. */
  readonly telemetry: TelemetrySettings | undefined
  /** 64 hexadecimal digits. Without it, the secret is in a file of the data folder. */
  readonly keyPepper: string | undefined
  readonly masterKey: string | undefined
  /** Where hosted files are stored. Undefined: in the data folder. */
  readonly s3: S3Settings | undefined
  readonly sandbox: boolean
  /** Who may use the sandbox's models once there is another vendor. An account's own allow-list may add them. */
  readonly sandboxFor: SandboxFor
  /** The mark-up on list prices. With `off`, a vendor's key brings no models. */
  readonly markUp: MarkUp | 'off'
  /** Whether failure messages of vendors are kept for the operator, without words from the request. */
  readonly upstreamMessages: 'kept' | 'dropped'
  readonly declared: DeclaredCatalog & {
    readonly vendorModels: readonly ModelDraft[]
    /** Models that only the first account may use once there is another vendor. */
    readonly reserved: readonly string[]
  }
  /** The file of the declaration, for messages. */
  readonly configFile: string | undefined
}

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

function logLevel(env: Environment): LogLevel {
  const text = env['TOLLGATE_LOG'] ?? 'info'
  const level = LOG_LEVELS.find((known) => known === text)
  if (level) return level
  throw new ConfigError(`TOLLGATE_LOG must be one of ${LOG_LEVELS.join(', ')}, not '${text}'`)
}

function publicUrl(env: Environment): string | undefined {
  const text = env['TOLLGATE_PUBLIC_URL']
  if (!text) return undefined
  const url = URL.canParse(text) && /^https?:/.test(text) ? new URL(text) : undefined
  // The address is shown and linked to. A password would leak, and nothing can be appended to a query.
  if (url && `${url.username}${url.password}${url.search}${url.hash}` === '') return text.replace(/\/+$/, '')
  const wanted = 'an absolute http(s) address without a user, a query or a fragment'
  throw new ConfigError(`TOLLGATE_PUBLIC_URL must be ${wanted}, not '${maskedAddress(text)}'`)
}

const listOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

function corsOrigins(env: Environment): readonly string[] {
  const origins = listOf(env['TOLLGATE_CORS_ORIGINS'])
  for (const origin of origins) {
    if (origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)) continue
    throw new ConfigError(`TOLLGATE_CORS_ORIGINS: '${origin}' is not an origin, such as https://app.example.com`)
  }
  return origins
}

function trustedProxies(env: Environment): TrustedProxies {
  try {
    return new TrustedProxies(listOf(env['TOLLGATE_TRUSTED_PROXIES']))
  } catch (error) {
    throw new ConfigError(`TOLLGATE_TRUSTED_PROXIES: ${(error as Error).message}`)
  }
}

function environmentProxies(env: Environment): EnvironmentProxies {
  try {
    return new EnvironmentProxies(env)
  } catch (error) {
    throw new ConfigError((error as Error).message)
  }
}

type ListenSettings = Pick<Config, 'host' | 'port' | 'metricsHost' | 'metricsPort'>

/** The addresses to listen on: the one for clients and, if configured, a separate port for operators. */
function listening(env: Environment): ListenSettings {
  const ports = { fallback: 0, min: 0, max: 65_535 }
  const [host, port] = [env['HOST'] || '127.0.0.1', integer(env, 'PORT', { ...ports, fallback: 8080 })]
  const metricsHost = env['TOLLGATE_METRICS_HOST'] || '127.0.0.1'
  const metricsPort = env['TOLLGATE_METRICS_PORT'] ? integer(env, 'TOLLGATE_METRICS_PORT', ports) : undefined
  // The system would only say that the port is in use.
  if (port !== 0 && port === metricsPort && host === metricsHost) {
    throw new ConfigError(`TOLLGATE_METRICS_PORT must differ from PORT; both are ${port}`)
  }
  return { host, port, metricsHost, metricsPort }
}

function certificateFiles(env: Environment): CertificateFiles | undefined {
  const [cert, key] = [env['TOLLGATE_TLS_CERT'], env['TOLLGATE_TLS_KEY']]
  if (!cert && !key) return undefined
  if (!cert || !key) throw new ConfigError('set both TOLLGATE_TLS_CERT and TOLLGATE_TLS_KEY, or neither')
  return { certFile: resolve(cert), keyFile: resolve(key) }
}

function markUpOf(env: Environment): MarkUp | 'off' {
  const text = env['TOLLGATE_MARKUP'] || '0%'
  const by = text === 'off' ? text : parseMarkUp(text)
  if (by !== undefined) return by
  throw new ConfigError(`TOLLGATE_MARKUP must be a percentage, such as 20%, or off, not '${text}'`)
}

function publicModels(env: Environment): Config['publicModels'] {
  const text = env['TOLLGATE_PUBLIC_MODELS'] || 'off'
  if (text === 'on' || text === 'off') return text === 'on' ? 'shown' : 'hidden'
  throw new ConfigError(`TOLLGATE_PUBLIC_MODELS must be on or off, not '${text}'`)
}

/** The environment takes precedence over the file, as for the other settings. */
function upstreamMessages(env: Environment, declared: boolean | undefined): Config['upstreamMessages'] {
  const text = env['TOLLGATE_UPSTREAM_MESSAGES'] || (declared === false ? 'off' : 'on')
  if (text === 'on' || text === 'off') return text === 'on' ? 'kept' : 'dropped'
  throw new ConfigError(`TOLLGATE_UPSTREAM_MESSAGES must be on or off, not '${text}'`)
}

/** Reads the whole configuration. Rejects with `ConfigError` or `DeclarationError`. */
export async function loadConfig(env: Environment): Promise<Config> {
  const configFile = configFileOf(env)
  const file = configFile ? await readFile(configFile, env) : undefined
  const sandbox = file?.sandbox ?? true
  // Beside other vendors, the sandbox is by default only for the operator's own tests.
  const sandboxFor = file?.sandbox ? 'everyone' : 'first_account'
  const providers = [...(file?.providers ?? [])]
  const implied = providersOf(env).filter((provider) => !providers.some(({ id }) => id === provider.id))
  providers.push(...implied)
  const models = [...(file?.models ?? [])]
  const aliases = file?.aliases ?? []
  const declaredIds = new Set([...models, ...aliases].map(({ id }) => id))
  const builtIn = sandbox ? sandboxModels.filter(({ id }) => !declaredIds.has(id)) : []
  if (sandbox) providers.push(sandboxProvider)
  models.push(...builtIn)
  const reserved = sandboxFor === 'everyone' ? [] : builtIn.map(({ id }) => id)
  const by = markUpOf(env)
  const brought = modelsBrought(implied, declaredIds, by)
  const takenIds = new Set([...declaredIds, ...brought.map(({ id }) => id)])
  return Object.freeze({
    ...listening(env),
    tls: certificateFiles(env),
    dataFolder: resolve(env['TOLLGATE_DATA'] || 'data'),
    databaseUrl: databaseUrl(env),
    ...workersOf(env),
    publicUrl: publicUrl(env),
    publicModels: publicModels(env),
    corsOrigins: corsOrigins(env),
    trustedProxies: trustedProxies(env),
    outboundProxies: environmentProxies(env),
    metricsToken: env['TOLLGATE_METRICS_TOKEN'] || undefined,
    logLevel: logLevel(env),
    limits: configuredLimits(env),
    telemetry: await telemetrySettings(env),
    keyPepper: env['TOLLGATE_KEY_PEPPER'] || undefined,
    masterKey: env['TOLLGATE_MASTER_KEY'] || undefined,
    s3: await s3Settings(env),
    sandbox,
    sandboxFor,
    markUp: by,
    upstreamMessages: upstreamMessages(env, file?.upstreamMessages),
    declared: {
      providers,
      models,
      vendorModels: [...brought, ...modelsOfWildcards(file?.wildcards ?? [], takenIds, by)],
      // Left out without aliases, so that older declarations keep their digest.
      ...(aliases.length > 0 && { aliases }),
      reserved,
      accounts: file?.accounts ?? [],
    },
    configFile,
  })
}

/** Files go to S3 as soon as a variable of it is set. Then all that it needs must be there. */
async function s3Settings(env: Environment): Promise<S3Settings | undefined> {
  if (!Object.entries(env).some(([name, value]) => name.startsWith('TOLLGATE_S3_') && value)) return undefined
  const read = (await import('./blobs/bucket-settings.ts')).readS3Settings(env)
  if (read.kind === 'bad') throw new ConfigError(read.message)
  return read.settings
}

/** Without the address of a collector, nothing of OpenTelemetry is loaded. */
async function telemetrySettings(env: Environment): Promise<TelemetrySettings | undefined> {
  if (!Object.entries(env).some(([name, value]) => /^OTEL_EXPORTER_OTLP_(?:\w+_)?ENDPOINT$/.test(name) && value)) {
    return undefined
  }
  const read = (await import('./telemetry/settings.ts')).readTelemetrySettings(env)
  if (read.kind === 'bad') throw new ConfigError(read.message)
  return read.kind === 'off' ? undefined : read.settings
}

/** The parser and the schemas take 100 ms to load. A start without a file does not load them. */
async function readFile(file: string, env: Environment): Promise<Declaration> {
  const { readDeclaration } = await import('./declaration.ts')
  return readDeclaration(readFileSync(file, 'utf8'), file, env)
}

function configFileOf(env: Environment): string | undefined {
  const named = env['TOLLGATE_CONFIG']
  const file = resolve(named || 'tollgate.yaml')
  if (existsSync(file)) return file
  if (named) throw new ConfigError(`TOLLGATE_CONFIG names ${file}, which does not exist`)
  return undefined
}

/** Every vendor whose key is in the environment. */
function providersOf(env: Environment): ProviderDraft[] {
  return presets.flatMap(({ id, keyVariable }) => {
    const secret = keyVariable && env[keyVariable]
    if (secret && !isSendableKey(id, secret)) throw new ConfigError(`${keyVariable}: ${UNSENDABLE_KEY}`)
    return secret ? [{ id, preset: id, baseUrl: undefined, reach: 'public', secret }] : []
  })
}

/**
 * The models of vendors that only have a key in the environment. A declared provider brings no models, because its
 * declaration lists them. A declared model or alias replaces a vendor's model of the same id.
 */
function modelsBrought(
  vendors: readonly ProviderDraft[],
  declaredIds: ReadonlySet<string>,
  by: MarkUp | 'off',
): ModelDraft[] {
  if (by === 'off' || vendors.length === 0) return []
  const presetIds = vendors.map(({ id }) => id)
  return modelsOfVendors(presetIds, { atMs: Date.now(), by }).filter(({ id }) => !declaredIds.has(id))
}

/** The models of the declared wildcards. They are priced at this start, so a client never meets one without a price. */
function modelsOfWildcards(
  wildcards: readonly DeclaredWildcard[],
  takenIds: ReadonlySet<string>,
  usual: MarkUp | 'off',
): ModelDraft[] {
  const atMs = Date.now()
  return wildcards
    .flatMap(({ prefix, by = usual === 'off' ? 0n : usual, ...vendor }) => modelsBehind(prefix, vendor, { atMs, by }))
    .filter(({ id }) => !takenIds.has(id))
}
