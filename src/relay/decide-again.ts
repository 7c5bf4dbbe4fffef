/** The second decision about a request that an old balance would refuse or bound. It happens only between instances. */
import type { OldBalance, Refusal } from './admit.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { unready } from './permission.ts'

const READS_MAX = 5

/**
 * Reads the balance, and decides. The call is among the live ones from then on, so that a shutdown waits for it. The
 * caller must take it out if it is refused.
 */
export async function decideAgain<T extends { readonly kind: string }>(
  relay: Relay,
  call: GatewayRequest,
  decide: () => T | OldBalance,
): Promise<T | Refusal> {
  relay.live.add(call)
  call.hasReadBalance = true
  const { id } = call.caller.account
  // What is read is not taken while other calls of the account hold money, and the end of their writes brings it. If it
  // cannot be read, the last known balance decides, and then the store.
  for (let tries = 0; tries < READS_MAX && relay.ledger.isOutdated(id); tries++) {
    await relay.ledger.refresh([id])?.catch(() => undefined)
  }
  const failure = unready(relay)
  if (failure) return { kind: 'refused', failure }
  const decided = decide()
  if (isOldBalance(decided)) throw new Error('a balance is read once')
  return decided
}

const isOldBalance = (decided: { readonly kind: string }): decided is OldBalance => decided.kind === 'old_balance'
