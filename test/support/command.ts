/** Runs `tollgate` commands in processes of their own, as people and scripts do. */
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { programFile } from '../../bin/program.js'

const MAIN = programFile(resolve(import.meta.dir, '../..'))

export type Ran = { readonly code: number; readonly out: string; readonly err: string }

/** Runs one command on a data folder to its end, with nothing of the machine's own environment. */
export async function runCommand(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const child = Bun.spawn([process.execPath, '--no-env-file', MAIN, ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), TOLLGATE_DATA: folder, PORT: '0', ...env },
    cwd: tmpdir(),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, out, err }
}

/** Runs a command with --json; returns what it printed, an error too. */
export async function runJson<T = Record<string, unknown>>(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<T> {
  const { out, err } = await runCommand(folder, [...args, '--json'], env)
  if (out === '') throw new Error(`no output: ${err}`)
  return JSON.parse(out) as T
}
