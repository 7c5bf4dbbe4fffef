import type { Program } from './program.ts'
import { serveCommand } from './serve.ts'

/** Runs one command line. Returns the exit code: 0 ok, 1 failure, 2 usage. */
export async function runCli(program: Program, args: readonly string[]): Promise<number> {
  const [command = 'serve', ...rest] = args
  if (command === 'serve') return serveCommand(program)
  if (command === 'op') {
    const result = await program.operate(rest[0] ?? '', JSON.parse(rest[1] ?? '{}'))
    process.stdout.write(`${JSON.stringify(result, (_, v) => (typeof v === 'bigint' ? v.toString() : v), 2)}\n`)
    return result.ok ? 0 : 1
  }
  return 2
}
