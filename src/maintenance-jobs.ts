/** The periodic work of a gateway: deleting old rows and files, and verifying the books and the files. */
import type { Blobs } from './blobs/blobs.ts'
import type { Config } from './config.ts'
import type { Gateway } from './gateway.ts'
import type { Log } from './lib/runtime/log.ts'
import { HOUR_MS } from './lib/primitives/units.ts'

/** Expired files are deleted within this time. */
const SWEEP_MS = 30_000

type JobOptions = Pick<Config, 'limits'> & { readonly log: Log; readonly isDraining: () => boolean }

/** Starts the periodic work. */
export function startSweeps(gateway: Gateway, blobs: Blobs, { log, limits, isDraining }: JobOptions): { stop(): void } {
  const logFailure = (event: string) => (error: unknown) => log('error', event, { message: String(error) })
  const { turns, idempotency, tasks, rollups, refused, store } = gateway
  const { sessions } = gateway.services
  const rows = { responses: turns, idempotency, video: tasks, sessions, usage: rollups, refused }
  const sweep = (): void => {
    const swept = Object.entries(rows).map(([name, one]) => one.sweep().catch(logFailure(`${name}.sweep_failed`)))
    // The space that they freed is returned to the disk.
    Promise.all(swept)
      .then(() => store.shrink())
      .catch(logFailure('store.vacuum_failed'))
  }
  const inspect = (): void => void inspectFiles(blobs, log).catch(logFailure('blobs.inspection_failed'))
  const hourly = setInterval(() => {
    verifyHourly(gateway, log).catch((error: unknown) => {
      // A shutdown does not wait for the verification.
      if (!isDraining()) log('error', 'ledger.verification_failed', { message: String(error) })
    })
    sweep()
    inspect()
  }, HOUR_MS)
  // A gateway that is restarted within every hour must delete old rows, too.
  sweep()
  inspect()
  const filesMs = Math.min(SWEEP_MS, limits.imageUrlMs, limits.videoKeptMs)
  const files = setInterval(() => void blobs.sweep().catch(logFailure('blobs.sweep_failed')), filesMs)
  return {
    stop() {
      clearInterval(hourly)
      clearInterval(files)
    },
  }
}

async function inspectFiles(blobs: Blobs, log: Log): Promise<void> {
  for (const { kind, ...rest } of await blobs.inspect()) log('warn', `blobs.${kind}`, rest)
}

async function verifyHourly({ services }: Gateway, log: Log): Promise<void> {
  for (const finding of await services.verify()) log('error', 'ledger.broken', finding)
}
