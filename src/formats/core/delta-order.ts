/**
 * The order that clients of every dialect may rely on, whatever the upstream sends. A call comes in one piece, and the
 * next call comes after it. A function without arguments is called with `{}`. The finish reason fits the content.
 */
import type { Delta, FinishReason, OutputPart, Reply } from '../../domain/turn.ts'
import { JsonEnd } from '../../lib/json/json-end.ts'

const endOf = (reason: FinishReason, hasCalls: boolean): FinishReason =>
  reason === 'length' || reason === 'content_filter' ? reason : hasCalls ? 'tool_calls' : 'stop'

type Choice = Reply['choices'][number]

/** A choice of a whole answer. If the choice was cut, its last call may lack arguments. */
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
  /** The call that is being sent. */
  open: OpenCall | undefined
  /** Deltas that wait for the end of that call. */
  readonly waiting: Delta[]
  hasCalls: boolean
  /** The last finish reason that the upstream sent. */
  reason: FinishReason | undefined
}

/** The same order for the deltas of a whole answer. */
export function orderedDeltas(deltas: readonly Delta[]): readonly Delta[] {
  const order = new DeltaOrder()
  return [...order.take(deltas), ...order.end()]
}

/** Puts the deltas of a stream in order. */
export class DeltaOrder {
  private readonly states = new Map<number, State>()
  /** The choice of the last text. Nearly all deltas belong to the same choice. */
  private latest: { readonly choice: number; readonly state: State } | undefined

  take(deltas: readonly Delta[]): readonly Delta[] {
    if (this.arePlain(deltas)) return deltas
    const said: Delta[] = []
    for (const delta of deltas) this.one(delta, said)
    return said
  }

  /** The ends of all choices, after everything that still waits. Choices that the upstream left open end as well. */
  end(): Delta[] {
    return [...this.states].flatMap(([choice, state]) => this.ending(choice, state))
  }

  /** What still waits when an answer breaks. */
  rest(): Delta[] {
    return [...this.states.values()].flatMap(({ waiting }) => waiting.splice(0))
  }

  /** Whether all deltas are text and no call is open, which holds for nearly every delta. */
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
      // Some servers send a finish reason in every chunk, so it is passed on at the end only.
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

  /** The call that was being sent has ended. Sends what waited for that. */
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
