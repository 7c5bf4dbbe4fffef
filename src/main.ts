/** The program: wires what the commands need and runs one of them. */
import { callControl } from './admin/control.ts'
import { runOperation, type Result } from './admin/operations.ts'
import { runCli } from './cli/cli.ts'
import type { Program } from './cli/program.ts'
import { loadConfig } from './config.ts'
import { openGateway } from './gateway.ts'
import { silentLog } from './lib/log.ts'
import { serve } from './serve.ts'

/** Runs an operation in the server that owns the data folder, or, when none runs, on the folder itself. */
async function operate(name: string, input: unknown): Promise<Result> {
  const config = loadConfig(process.env)
  const answered = await callControl(config.dataFolder, name, input)
  if (answered) return answered
  const gateway = await openGateway(config, { log: silentLog, sandboxUrl: undefined, firstAccount: 'leave' })
  try {
    return await runOperation(gateway.office, name, input)
  } finally {
    await gateway.store.close()
  }
}

const program: Program = {
  operate,
  async serve() {
    const { baseUrl, firstKey, gateway, drain } = await serve(loadConfig(process.env))
    return { baseUrl, firstKey, models: gateway.catalog.models().map(({ id }) => id), drain }
  },
}

process.exitCode = await runCli(program, process.argv.slice(2))
