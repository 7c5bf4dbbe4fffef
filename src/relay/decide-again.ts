/**
 * Further decisions about a request that an old balance would refuse or bound, or whose hold the store has refused.
 * They happen only between instances. The calls of an account may change its balance all the time, so the number of
 * decisions is bounded. After the last one, the known balance counts, and then the store.
 */
import { DECISIONS_MAX, type OldBalance, type Refusal } from './admit.ts'
import type { HoldRefusal } from '../ledger/ledger.ts'
import type { GatewayRequest } from './call.ts'
import type { Relay } from './context.ts'
import { newerBalance } from './newer-balance.ts'
import { unready } from './permission.ts'

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
  for (;;) {
    // If it cannot be read, the last known balance decides, too.
    await newerBalance(relay, call.caller.account.id)
    const failure = unready(relay)
    if (failure) return { kind: 'refused', failure }
    call.decisions++
    const decided = decide()
    if (!isOldBalance(decided)) return decided
    if (call.decisions >= DECISIONS_MAX) throw new Error('the last decision waits for no newer balance')
  }
}

const isOldBalance = <T extends { readonly kind: string }>(decided: T | OldBalance): decided is OldBalance =>
  decided.kind === 'old_balance'

/**
 * Takes an admission back whose hold the store has refused, if a smaller hold, or that of a fall-back model, may fit
 * what other instances have left. The request can then be admitted once more.
 */
export function takeBack({ turns }: Relay, call: GatewayRequest, refusal: HoldRefusal): boolean {
  const isOfMoney =
    refusal.kind === 'insufficient' || (refusal.kind === 'limited' && refusal.violation.kind === 'spend')
  // A fall-back model may have other limits.
  const mayFit = isOfMoney || (refusal.kind === 'limited' && (call.hints?.fallbacks.length ?? 0) > 0)
  if (!mayFit || call.cancelled || call.decisions >= DECISIONS_MAX) return false
  call.decisions++
  call.limiterPermit.withdraw()
  if (call.request.conversation) turns.forget({ accountId: call.caller.account.id }, call.id)
  call.life.withdrawn()
  return true
}
