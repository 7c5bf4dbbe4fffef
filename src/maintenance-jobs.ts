/**
 * The periodic work of a gateway: deleting old rows and files, and verifying the books and the files. Of instances that
 * share a database, one does each part for all.
 */
import type { Blobs } from './blobs/blobs.ts'
import type { Config } from './config.ts'
import type { Gateway } from './gateway.ts'
import type { LifeOptions } from './instance-life.ts'
import type { Log } from './lib/runtime/log.ts'
import { HOUR_MS } from './lib/primitives/units.ts'

/** Expired files are deleted within this time. */
const SWEEP_MS = 30_000

type JobOptions = Pick<Config, 'limits'> & LifeOptions & { readonly isDraining: () => boolean }

/** Starts the periodic work. */
export function startSweeps(
  gateway: Gateway,
  blobs: Blobs,
  { log, limits, isDraining, onInstances }: JobOptions,
): { stop(): void } {
  const logFailure = (event: string) => (error: unknown) => log('error', event, { message: String(error) })
  const { answers, turns, idempotency, tasks, rollups, refused, store, chores } = gateway
  const { sessions } = gateway.services
  const rows = { responses: turns, idempotency, answer_cache: answers, video: tasks, sessions, usage: rollups, refused }
  /** Does a part of the work if it is this instance's. */
  const once = (name: string, work: () => Promise<void>, event: string): void => {
    const done = async (): Promise<void> => {
      if (await chores.isMine(name)) await work()
    }
    done().catch((error: unknown) => {
      // A shutdown does not wait for the work.
      if (!isDraining()) logFailure(event)(error)
    })
  }
  const sweepRows = async (): Promise<void> => {
    const swept = Object.entries(rows).map(([name, one]) => one.sweep().catch(logFailure(`${name}.sweep_failed`)))
    await Promise.all(swept)
    // The space that they freed is returned to the disk.
    await store.shrink()
  }
  const sweep = (): void => once('rows', sweepRows, 'store.vacuum_failed')
  const inspect = (): void => once('inspection', () => inspectFiles(blobs, log), 'blobs.inspection_failed')
  const hourly = setInterval(() => {
    once('verification', () => verifyHourly(gateway, log), 'ledger.verification_failed')
    sweep()
    inspect()
  }, HOUR_MS)
  // A gateway that is restarted within every hour must delete old rows, too.
  sweep()
  inspect()
  const filesMs = Math.min(SWEEP_MS, limits.imageUrlMs, limits.videoKeptMs)
  const files = setInterval(() => {
    once('files', () => blobs.sweep(), 'blobs.sweep_failed')
    void blobs.tend().catch(logFailure('blobs.sweep_failed'))
  }, filesMs)
  const life =
    store.instance === undefined
      ? undefined
      : import('./instance-life.ts').then(({ startInstanceLife }) => startInstanceLife(gateway, { log, onInstances }))
  return {
    stop() {
      clearInterval(hourly)
      clearInterval(files)
      void life?.then((started) => started.stop())
    },
  }
}

async function inspectFiles(blobs: Blobs, log: Log): Promise<void> {
  for (const { kind, ...rest } of await blobs.inspect()) log('warn', `blobs.${kind}`, rest)
}

async function verifyHourly({ services }: Gateway, log: Log): Promise<void> {
  for (const finding of await services.verify()) log('error', 'ledger.broken', finding)
}
