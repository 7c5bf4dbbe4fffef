/** The sandbox vendor in a process of its own, without pauses between tokens. */
import { startSandbox } from '../../sandbox/server.ts'

const sandbox = startSandbox({ paceMs: 0 })
process.stdout.write(`${sandbox.url}\n`)
process.on('SIGTERM', () => {
  void sandbox.stop().then(() => process.exit(0))
})
