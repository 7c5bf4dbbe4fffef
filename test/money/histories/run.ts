import { join } from 'node:path'
import type { PlayedRun } from './play.ts'

export type PlayRun = {
  readonly exitCode: number
  /** Undefined when the program could not tell: it crashed, say. */
  readonly played: PlayedRun | undefined
  readonly output: string
}

export type PlayOptions = { readonly histories: number; readonly seed: number }

/** Plays histories in a process of their own, on the sources below `root`. */
export async function playHistories(root: string, { histories, seed }: PlayOptions): Promise<PlayRun> {
  const program = join(root, 'test/money/histories/play.ts')
  const args = ['--no-env-file', program, '--histories', String(histories), '--seed', String(seed)]
  const child = Bun.spawn([process.execPath, ...args], { stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  const line = stdout.trim().split('\n').at(-1) ?? ''
  const played = line.startsWith('{') ? (JSON.parse(line) as PlayedRun) : undefined
  return { exitCode: await child.exited, played, output: `seed ${seed}\n${stdout}${stderr}` }
}
