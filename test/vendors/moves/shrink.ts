/** Shortens a failing conversation while it still fails. */
import { play } from './play.ts'
import type { Plan, PlannedTurn } from './plan.ts'
import { Violation } from './truth.ts'

export type FoundViolation = { readonly plan: Plan; readonly violation: Violation }

/** The shortest that steps of this kind lead to. */
export async function shortest(plan: Plan, violation: Violation): Promise<FoundViolation> {
  let found: FoundViolation = { plan, violation }
  for (let steps = 0; steps < 200; steps++) {
    const next = await firstBroken(shorter(found.plan))
    if (!next) break
    found = next
  }
  return found
}

async function firstBroken(plans: Iterable<Plan>): Promise<FoundViolation | undefined> {
  for (const plan of plans) {
    try {
      await play(plan)
    } catch (error) {
      if (error instanceof Violation) return { plan, violation: error }
    }
  }
  return undefined
}

/** Plans with one thing less. */
function* shorter(plan: Plan): Generator<Plan> {
  for (const i of plan.turns.keys()) if (plan.turns.length > 1) yield { ...plan, turns: plan.turns.toSpliced(i, 1) }
  if (plan.system !== undefined) yield { ...plan, system: undefined }
  for (const name of ['isStructured', 'forgets', 'isKept'] as const) if (plan[name]) yield { ...plan, [name]: false }
  for (const [i, turn] of plan.turns.entries()) {
    for (const less of shorterTurns(turn)) yield { ...plan, turns: plan.turns.with(i, less) }
  }
}

const PLAIN = {
  system: undefined,
  user: undefined,
  pictures: 0,
  effort: undefined,
  sampling: false,
  mode: 'whole',
} as const

function* shorterTurns(turn: PlannedTurn): Generator<PlannedTurn> {
  for (const [name, value] of Object.entries(PLAIN) as [keyof typeof PLAIN, never][]) {
    if (turn[name] !== value) yield { ...turn, [name]: value }
  }
  if (turn.ids !== 'plain') yield { ...turn, ids: 'plain' }
  const { answer } = turn
  const { calls } = answer
  if (answer.thought !== '') yield { ...turn, answer: { ...answer, thought: '' } }
  if (answer.text !== '' && calls.length > 0) yield { ...turn, answer: { ...answer, text: '' } }
  for (const [i, call] of calls.entries()) {
    yield { ...turn, answer: { ...answer, text: answer.text || 'x', calls: calls.toSpliced(i, 1) } }
    if (call.args !== '{}' && call.args.startsWith('{')) {
      yield { ...turn, answer: { ...answer, calls: calls.with(i, { ...call, args: '{}' }) } }
    }
    const { result } = call
    if (result?.picture) {
      yield { ...turn, answer: { ...answer, calls: calls.with(i, { ...call, result: { ...result, picture: false } }) } }
    }
  }
}
