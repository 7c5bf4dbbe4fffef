import type { Program } from './program.ts'

export async function serveCommand(program: Program): Promise<number> {
  const serving = await program.serve()
  process.stderr.write(`Tollgate at ${serving.baseUrl}\n`)
  if (serving.firstKey) process.stdout.write(`key ${serving.firstKey}\n`)
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, resolve)
  await stopped
  await serving.drain()
  return 0
}
