/**
 * A process that decodes pictures, so that damage by a picture ends with the process. It has no secrets and a low
 * priority, and it ends with this process.
 */
import { setPriority } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { readFileSync } from 'node:fs'
import { nextTurn } from './end-of-tick.ts'
import {
  EXIT_CODE_OF_MEMORY,
  type PictureAnswer,
  type PictureJob,
  type PictureResult,
  type PictureTask,
} from './picture-job.ts'
import { MIB } from '../primitives/units.ts'

/** No process could be started. The picture is not at fault. */
export class NoDecoder extends Error {}

export type DecodedPicture = { readonly said: PictureResult; readonly bytes: Buffer }

/** How a working process ended. `died`: by itself. */
export type ProcessLoss = 'late' | 'memory' | 'died'

const ROOT = resolve(import.meta.dir, '../../..')
/** A pipe takes this in a few pieces. The thread does other work between two slices. */
const SLICE_BYTES = MIB
/** Lower than everything else that uses the processor. */
const PRIORITY = 10
/** The environment variables that the program needs to start. */
const VARIABLES = ['PATH', 'HOME', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR']

export class PictureProcess {
  /** As the process reported after its last picture. */
  residentBytes = 0
  isGone = false
  private readonly child: Bun.Subprocess<'pipe', 'pipe', 'ignore'>
  private readonly answers: ReadableStreamDefaultReader<Uint8Array>
  private rest: Buffer = Buffer.alloc(0)
  private lost: ProcessLoss = 'died'

  /** Throws `NoDecoder`. */
  constructor(bytesMax: number) {
    this.child = spawned(bytesMax)
    this.child.unref()
    this.answers = this.child.stdout.getReader() as ReadableStreamDefaultReader<Uint8Array>
    void this.child.exited.then((code) => {
      this.isGone = true
      if (code === EXIT_CODE_OF_MEMORY) this.lost = 'memory'
    })
  }

  get pid(): number {
    return this.child.pid
  }

  /** The memory of the process at this moment, or the last report if the system does not tell. */
  get memoryBytes(): number {
    try {
      return Number(readFileSync(`/proc/${this.child.pid}/statm`, 'latin1').split(' ')[1]) * PAGE_BYTES
    } catch {
      return this.residentBytes
    }
  }

  /** Decodes one picture at a time. After a `ProcessLoss`, the process is gone. It is killed at `untilMs`. */
  async decode(input: Buffer | string, task: PictureTask, untilMs: number): Promise<DecodedPicture | ProcessLoss> {
    const timer = setTimeout(
      () => {
        this.lost = 'late'
        this.stop()
      },
      Math.max(0, untilMs - performance.now()),
    )
    try {
      return await this.exchange(input, task)
    } catch {
      await this.child.exited // Its pipes broke. The exit code says why.
      return this.lost
    } finally {
      clearTimeout(timer)
    }
  }

  stop(): void {
    this.isGone = true
    this.child.kill('SIGKILL')
  }

  private async exchange(input: Buffer | string, task: PictureTask): Promise<DecodedPicture> {
    const isPath = typeof input === 'string'
    // The process may have another working directory.
    const job: PictureJob = isPath ? { ...task, path: resolve(input) } : { ...task, bytes: input.length }
    await this.write(Buffer.from(`${JSON.stringify(job)}\n`))
    if (!isPath) {
      for (let at = 0; at < input.length; at += SLICE_BYTES) {
        await this.write(input.subarray(at, at + SLICE_BYTES))
        await nextTurn()
      }
    }
    const { said, residentBytes, bytes } = JSON.parse(await this.line()) as PictureAnswer
    this.residentBytes = residentBytes
    return { said, bytes: await this.take(bytes) }
  }

  private async write(bytes: Buffer): Promise<void> {
    await this.child.stdin.write(bytes)
    await this.child.stdin.flush()
  }

  private async line(): Promise<string> {
    for (;;) {
      const end = this.rest.indexOf(0x0a)
      if (end !== -1) return (await this.take(end + 1)).toString()
      this.rest = Buffer.concat([this.rest, await this.more()])
    }
  }

  private async take(count: number): Promise<Buffer> {
    const taken = Buffer.allocUnsafe(count)
    for (let at = 0; at < count;) {
      if (this.rest.length === 0) this.rest = await this.more()
      const copied = this.rest.copy(taken, at)
      this.rest = this.rest.subarray(copied)
      at += copied
    }
    return taken
  }

  private async more(): Promise<Buffer> {
    const { value, done } = await this.answers.read()
    if (done) throw new Error('the process has ended')
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  }
}

const PAGE_BYTES = 4_096

function spawned(bytesMax: number): Bun.Subprocess<'pipe', 'pipe', 'ignore'> {
  const env = Object.fromEntries(VARIABLES.map((name) => [name, process.env[name]]))
  const program = [
    process.execPath,
    // The runtime must not read files that happen to be in its folder: see bin/tollgate.js.
    '--no-env-file',
    `--config=${join(ROOT, 'package.json')}`,
    '--smol',
    Bun.fileURLToPath(new URL('./picture-worker.ts', import.meta.url)),
    String(bytesMax),
  ]
  try {
    const child = Bun.spawn(program, {
      cwd: dirname(program.at(-2) ?? ROOT),
      env: { ...env, MALLOC_ARENA_MAX: '2', NODE_ENV: 'production' },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'ignore',
    })
    stepBack(child.pid)
    return child
  } catch (error) {
    throw new NoDecoder(`no process for pictures could be started: ${String(error)}`)
  }
}

function stepBack(pid: number): void {
  try {
    setPriority(pid, PRIORITY)
  } catch {
    // The process is gone, or the system does not allow it.
  }
}
