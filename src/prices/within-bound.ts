/** Divides an import into what may be applied without a look at it and what is held back. */
import { parseUsd } from '../domain/money.ts'
import type { Change, Difference, ImportPlan } from './import-plan.ts'

/** The largest share by which a value may change, in millionths: 20 % is 200_000n. */
export type ChangeBound = bigint

const MILLION = 1_000_000n
/** Limits of a model that a list refreshes. */
const maxima: ReadonlySet<string> = new Set(['contextTokens', 'outputTokensMax'])

/** The plan with the changes within the bound, and the ids of the models that are held back. */
export function withinBound(plan: ImportPlan, bound: ChangeBound): { plan: ImportPlan; held: readonly string[] } {
  const isHeld = (change: Change): boolean => !isWithin(change, bound)
  return {
    plan: { ...plan, changes: plan.changes.filter((change) => !isHeld(change)) },
    held: plan.changes.filter(isHeld).map(({ draft }) => draft.id),
  }
}

/** A new model, a new or a lost price, and a price of zero are never within a bound. */
const isWithin = ({ kind, differences }: Change, bound: ChangeBound): boolean =>
  kind === 'changed' && differences.every((difference) => isNear(difference, bound))

function isNear({ about, before, after }: Difference, bound: ChangeBound): boolean {
  if (about.kind === 'limit' ? !maxima.has(about.name) : about.kind === 'origin') return false
  const old = parseUsd(before ?? '')
  const next = parseUsd(after)
  if (old === undefined || next === undefined || old <= 0n || next <= 0n) return false
  const moved = next > old ? next - old : old - next
  return moved * MILLION <= old * bound
}
