/**
 * What every dialect's clients may rely on, whatever the upstream does: a call comes in one piece, the next one behind
 * it; a function without arguments is called with `{}`; and an answer ends for what is in it.
 */
import type { Delta, FinishReason, OutputPart, Reply } from '../../domain/turn.ts'
import { JsonEnd } from '../../lib/json/json-end.ts'

const endOf = (reason: FinishReason, hasCalls: boolean): FinishReason =>
  reason === 'length' || reason === 'content_filter' ? reason : hasCalls ? 'tool_calls' : 'stop'

type Choice = Reply['choices'][number]

/** A choice of a whole answer. Of one that was cut the last call may lack its arguments for that. */
export function wholeChoice({ parts, finish }: Choice): Choice {
  const end = endOf(
    finish,
    parts.some(({ kind }) => kind === 'tool_call'),
  )
  const isEmpty = (part: OutputPart, i: number): boolean =>
    part.kind === 'tool_call' &&
    part.tool === 'function' &&
    part.arguments.trim() === '' &&
    !(end === 'length' && i === parts.length - 1)
  const whole = parts.some(isEmpty)
    ? parts.map((part, i) => (isEmpty(part, i) ? { ...part, arguments: '{}' } : part))
    : parts
  return { parts: whole, finish: end }
}

type OpenCall = { readonly call: number; readonly tool: 'function' | 'custom'; readonly words: JsonEnd }
type State = {
  /** The call that is being said. */
  open: OpenCall | undefined
  /** What waits for its end. */
  readonly waiting: Delta[]
  hasCalls: boolean
  /** Why it ended, by what its upstream said last. */
  reason: FinishReason | undefined
}

/** The same of a whole answer that is told in deltas. */
export function orderedDeltas(deltas: readonly Delta[]): readonly Delta[] {
  const order = new DeltaOrder()
  return [...order.take(deltas), ...order.end()]
}

/** The deltas of a stream in the order in which they are said. */
export class DeltaOrder {
  private readonly states = new Map<number, State>()
  /** The choice of the words that came last: nearly all are of one. */
  private latest: { readonly choice: number; readonly state: State } | undefined

  take(deltas: readonly Delta[]): readonly Delta[] {
    if (this.arePlain(deltas)) return deltas
    const said: Delta[] = []
    for (const delta of deltas) this.one(delta, said)
    return said
  }

  /** The ends, of choices that their upstream has left without one too, behind all that still waits. */
  end(): Delta[] {
    return [...this.states].flatMap(([choice, state]) => this.ending(choice, state))
  }

  /** What still waits, of an answer that broke. */
  rest(): Delta[] {
    return [...this.states.values()].flatMap(({ waiting }) => waiting.splice(0))
  }

  /** Words, where no call is open: nearly every delta. */
  private arePlain(deltas: readonly Delta[]): boolean {
    for (const { kind, choice } of deltas) {
      if (kind !== 'text' && kind !== 'reasoning' && kind !== 'refusal' && kind !== 'sealed') return false
      if (choice !== this.latest?.choice) this.latest = { choice, state: this.stateOf(choice) }
      if (this.latest.state.open !== undefined) return false
    }
    return true
  }

  private stateOf(choice: number): State {
    const known = this.states.get(choice)
    if (known) return known
    const state: State = { open: undefined, waiting: [], hasCalls: false, reason: undefined }
    this.states.set(choice, state)
    return state
  }

  private one(delta: Delta, said: Delta[]): void {
    const state = this.stateOf(delta.choice)
    if (delta.kind === 'finish') {
      // Some servers name a reason in every chunk: the end is said at the end.
      state.reason = delta.reason
      return
    }
    const { open } = state
    const isOfOpen = delta.kind === 'arguments' && delta.call === open?.call
    if (!open || isOfOpen) return this.say(state, delta, said)
    state.waiting.push(delta)
    if (open.tool === 'custom' || open.words.isWhole) this.goOn(state, said)
  }

  private say(state: State, delta: Delta, said: Delta[]): void {
    said.push(delta)
    if (delta.kind === 'call') {
      state.hasCalls = true
      state.open = { call: delta.call, tool: delta.tool, words: new JsonEnd() }
    } else if (delta.kind === 'arguments') {
      state.open?.words.add(delta.text)
      if (state.waiting.length > 0 && state.open?.words.isWhole) this.goOn(state, said)
    }
  }

  /** The call that was said has ended: what waits for that has its turn. */
  private goOn(state: State, said: Delta[]): void {
    state.open = undefined
    for (const delta of state.waiting.splice(0)) this.one(delta, said)
  }

  private ending(choice: number, state: State): Delta[] {
    const { reason = 'stop' } = state
    const said: Delta[] = []
    while (state.open) {
      const { call, tool, words } = state.open
      const isCut = reason === 'length' && state.waiting.length === 0
      if (tool === 'function' && !words.hasBegun && !isCut) said.push({ kind: 'arguments', choice, call, text: '{}' })
      this.goOn(state, said)
    }
    return [...said, { kind: 'finish', choice, reason: endOf(reason, state.hasCalls) }]
  }
}
