import { join } from 'node:path'
import type { PlayedRun } from './play.ts'

export type PlayRun = {
  readonly exitCode: number
  /** Undefined when the program could not tell: it crashed, say. */
  readonly played: PlayedRun | undefined
  readonly output: string
}

export type PlayOptions = {
  readonly histories: number
  readonly seed: number
  /** A server of PostgreSQL, and how many ledgers live on it at once. */
  readonly shared?: { readonly server: string; readonly ledgers: number }
}

/** Fewer than on SQLite, because each waits for its commits. */
const SHARED_SIDE_BY_SIDE = 8

/** Plays histories in a process of their own, on the sources below `root`. */
export async function playHistories(root: string, { histories, seed, shared }: PlayOptions): Promise<PlayRun> {
  const program = join(root, 'test/money/histories/play.ts')
  const args = ['--no-env-file', program, '--histories', String(histories), '--seed', String(seed)]
  if (shared) {
    args.push('--server', shared.server, '--ledgers', String(shared.ledgers))
    args.push('--side-by-side', String(SHARED_SIDE_BY_SIDE))
  }
  const child = Bun.spawn([process.execPath, ...args], { stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  const line = stdout.trim().split('\n').at(-1) ?? ''
  const played = line.startsWith('{') ? (JSON.parse(line) as PlayedRun) : undefined
  return { exitCode: await child.exited, played, output: `seed ${seed}\n${stdout}${stderr}` }
}
