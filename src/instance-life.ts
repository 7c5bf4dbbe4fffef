/** What an instance does about the life of the others that share its database, and about its own. */
import { counterExpirySteps } from './accounts/limit-counter-holds.ts'
import { alsoOnExpiry, type Gateway } from './gateway.ts'
import { expireHoldsOf } from './ledger/dead-instance.ts'
import type { Log } from './lib/runtime/log.ts'
import { CUT_OFF_MS, SilenceWatch } from './store/postgres/silence-watch.ts'

const LOOK_MS = 500

export type LifeOptions = {
  readonly log: Log
  /** Called each second with the number of instances that have not ended. */
  readonly onInstances: (count: number) => void
}

/** Ends instances that have died, and cuts the streams of this one if it does not reach the database for too long. */
export function startInstanceLife(
  { store, live }: Pick<Gateway, 'store' | 'live'>,
  { log, onInstances }: LifeOptions,
): { stop(): void } {
  const silence = new SilenceWatch(store, {
    onCount: onInstances,
    async onSilent(silent) {
      const holds = await expireHoldsOf(store, silent, { ofInstance: counterExpirySteps, ofHold: alsoOnExpiry })
      if (holds !== undefined) log('warn', 'instance.declared_dead', { instance: silent.id, holds })
    },
  })
  let isCutOff = false
  const look = setInterval(() => {
    const waitingMs = store.waitingMs()
    const wasCutOff = isCutOff
    isCutOff = waitingMs >= CUT_OFF_MS
    if (!isCutOff || wasCutOff) return
    log('error', 'instance.cut_off', { waitingMs: Math.round(waitingMs), live: live.size })
    live.cancelAll('shutdown')
  }, LOOK_MS)
  return {
    stop() {
      clearInterval(look)
      void silence.close()
    },
  }
}
