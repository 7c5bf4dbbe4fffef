/** The program. It wires what a command needs and runs it. Parts that the command does not use are not loaded. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Result } from './admin/operations.ts'
import { runCli } from './cli/cli.ts'
import type { ControlAnswer, Program } from './cli/program.ts'
import type { Config } from './config.ts'
import type { Gateway, OpenOptions } from './gateway.ts'

/** How long a command waits while another command, or a server that is starting, has the data folder. */
const FOLDER_WAIT_MS = 3_000
const FOLDER_POLL_MS = 50

const readConfig = async (): Promise<Config> => (await import('./config.ts')).loadConfig(process.env)

async function consult(name: string, input: unknown): Promise<Result | undefined> {
  const { callControl } = await import('./admin/control.ts')
  return callControl((await readConfig()).dataFolder, name, input)
}

/** Runs an operation in the server that owns the data folder, or on the folder itself when no server runs. */
async function operate(name: string, input: unknown): Promise<ControlAnswer> {
  const config = await readConfig()
  const [{ callControl }, { runOperation }] = await Promise.all([
    import('./admin/control.ts'),
    import('./admin/operations.ts'),
  ])
  for (const startedMs = Date.now(); ; await Bun.sleep(FOLDER_POLL_MS)) {
    const answered = await callControl(config.dataFolder, name, input)
    if (answered) return answered
    if (isMissing(config)) return noFolder(config)
    try {
      return await onFolder(config, { firstAccount: 'leave' }, ({ services }) => runOperation(services, name, input))
    } catch (error) {
      const isBusy = error instanceof Error && error.name === 'FolderInUse'
      if (!isBusy || Date.now() - startedMs > FOLDER_WAIT_MS) throw error
    }
  }
}

const isMissing = ({ databaseUrl, dataFolder }: Config): boolean =>
  databaseUrl === undefined && !existsSync(join(dataFolder, 'tollgate.db'))

const noFolder = ({ dataFolder }: Config): ControlAnswer => ({
  ok: false,
  code: 'no_data_folder',
  message: `${dataFolder} is not a data folder: name one with --data or TOLLGATE_DATA, or make one with tollgate init or serve`,
})

const serverRuns: ControlAnswer = {
  ok: false,
  code: 'conflict',
  message: 'a server has the data folder; restart it, and it applies the declaration',
}

/** Opens the data folder without its servers while `use` runs. */
async function onFolder<T>(
  config: Config,
  opening: Pick<OpenOptions, 'firstAccount' | 'declaration'>,
  use: (gateway: Gateway) => T,
): Promise<Awaited<T>> {
  const [{ openGateway }, { createLog }] = await Promise.all([import('./gateway.ts'), import('./lib/runtime/log.ts')])
  // Warnings are shown: an upgrade, holds that a crash left open and that were released, or a failed commit.
  const gateway = await openGateway(config, { log: createLog('warn'), sandboxUrl: () => undefined, ...opening })
  try {
    return await use(gateway)
  } finally {
    await gateway.store.close()
  }
}

/** The limits among some settings, under their public names. */
const named = (settings: object): Record<string, number> =>
  Object.fromEntries(
    Object.entries(settings)
      .filter(([, value]) => typeof value === 'number')
      .map(([name, value]: [string, number]) => [outsideName(name), value]),
  )
const outsideName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const schemeOf = ({ tls }: Config): 'http' | 'https' => (tls ? 'https' : 'http')

const program: Program = {
  operate,
  consult,
  async serve() {
    const [config, { serve }] = await Promise.all([readConfig(), import('./serve.ts')])
    // The process that has the folder may also have the port. The folder is the better message.
    if (await consult('account.list', {})) (await import('./store/lock.ts')).lockFolder(config.dataFolder).release()
    const { baseUrl, firstKey, setupUrl, gateway, open, lameDuck, drain } = await serve(config)
    const [{ accountMayUse }, [account]] = [await import('./domain/account.ts'), gateway.accounts.list()]
    const models = gateway.catalog.models()
    return {
      baseUrl,
      firstKey,
      setupUrl,
      account: account?.name ?? 'default',
      models: models.map(({ id }) => id),
      callable: models.filter((model) => !account || accountMayUse(account, model)).map(({ id }) => id),
      dataFolder: config.dataFolder,
      open,
      lameDuck,
      drain,
    }
  },
  async firstKey() {
    const config = await readConfig()
    // A running server has already made the first key, if one was needed.
    if (await consult('account.list', {})) return undefined
    return onFolder(config, { firstAccount: 'make' }, ({ firstKey }) => firstKey)
  },
  async apply() {
    const config = await readConfig()
    const { configFile, databaseUrl, declared } = config
    // The server has applied its own declaration when it started.
    if (databaseUrl === undefined && (await consult('account.list', {}))) return serverRuns
    await onFolder(config, { firstAccount: 'leave', declaration: 'apply' }, () => undefined)
    const { providers, models, vendorModels, accounts } = declared
    const counts = {
      providers: providers.length,
      models: models.length + vendorModels.length,
      accounts: accounts.length,
    }
    return { ok: true, value: { config_file: configFile ?? null, ...counts } }
  },
  async database(task) {
    const [config, database] = await Promise.all([readConfig(), import('./database.ts')])
    if (task.kind === 'import') return database.importFolder(config, task.folder)
    if (task.kind === 'export') return database.exportFolder(config, task.folder)
    if (task.kind === 'examine') return database.databaseFindings(config)
    return task.kind === 'migrate' ? database.migrateDatabase(config) : database.databaseStatus(config)
  },
  async settings() {
    const [{ fixedLimits }, { defaultModelLimits }, { patienceMs }] = await Promise.all([
      import('./fixed-limits.ts'),
      import('./domain/model-limits.ts'),
      import('./vendors/first-token-timeout.ts'),
    ])
    const config = await readConfig()
    const { host, port, tls, dataFolder, databaseUrl, configFile, publicUrl, trustedProxies, limits } = config
    return {
      scheme: schemeOf(config),
      certificate: tls && (await (await import('./certificate.ts')).inspectCertificate(tls, publicUrl)),
      host,
      port,
      dataFolder,
      isShared: databaseUrl !== undefined,
      configFile,
      publicUrl,
      trustsProxies: !trustedProxies.isEmpty,
      limits: named(limits),
      modelLimits: named({ ...defaultModelLimits, ...patienceMs }),
      fixedLimits: named(Object.fromEntries([...fixedLimits].map(([name, { value }]) => [name, value]))),
      limitEffects: Object.fromEntries([...fixedLimits].map(([name, { effect }]) => [outsideName(name), effect])),
    }
  },
  publicRoutes: async () => (await import('./edge/route-list.ts')).listRoutes(),
  async address() {
    const [{ askAddress }, config] = await Promise.all([import('./admin/control.ts'), readConfig()])
    return (await askAddress(config.dataFolder)) ?? { ...config, scheme: schemeOf(config) }
  },
  async restore(request) {
    const [config, { restoreBackup }] = await Promise.all([readConfig(), import('./restore.ts')])
    return restoreBackup(config, request)
  },
  async adoptSecrets() {
    const [config, { openConfiguredStore }, secrets, { createLog }] = await Promise.all([
      readConfig(),
      import('./configured-store.ts'),
      import('./secrets.ts'),
      import('./lib/runtime/log.ts'),
    ])
    if (isMissing(config)) return noFolder(config)
    const onFatal = (message: string): never => {
      process.stderr.write(`tollgate: ${message}\n`)
      process.exit(1)
    }
    const store = await openConfiguredStore(config, { log: createLog('warn'), onFatal })
    try {
      return { ok: true, value: await secrets.adoptSecrets(config, store) }
    } finally {
      await store.close()
    }
  },
}

// After a failed start, its threads and sockets would keep the process alive.
process.exit(await runCli(program, process.argv.slice(2)))
