/** Writes neutral answers in the format of Gemini's API. */
import type { Failure } from '../../domain/failure.ts'
import type { Delta, FinishReason, OutputPart, Reply } from '../../domain/turn.ts'
import type { Usage } from '../../domain/usage.ts'
import { dataEvent } from '../../lib/http/sse.ts'
import type { AnswerFacts, ClientSide, StreamEncoder } from '../core/contract.ts'
import { writeGeminiFailure } from '../core/google-failure.ts'
import { geminiReasonOf } from './ends.ts'
import { callPart, sealedPart, writePart } from './parts.ts'
import { writeGeminiUsage } from './usage.ts'

/** `thoughts`: whether the client asked to see thoughts. Hidden thoughts leave only their signature. */
export const geminiClientSide = (thoughts: Thoughts): ClientSide => ({
  dialect: 'gemini',
  reply: (reply, answer, usage) => writeReply(thoughts === 'shown' ? reply : withoutThoughts(reply), answer, usage),
  encoder: (answer) => new GeminiEncoder(answer, thoughts),
})

type Thoughts = 'shown' | 'hidden'

const withoutThoughts = ({ choices, usage }: Reply): Reply => ({
  choices: choices.map(({ parts, finish }) => ({
    parts: parts.map((part) => (part.kind === 'reasoning' ? { ...part, text: '' } : part)),
    finish,
  })),
  usage,
})

type Candidate = { readonly content: object; readonly finishReason?: string; readonly index: number }

const contentOf = (parts: readonly object[]): object => ({
  parts: parts.length === 0 ? [{ text: '' }] : parts,
  role: 'model',
})

/** `MAX_TOKENS` explains a broken call. With another reason the model broke its own format. */
const finishReasonOf = (finish: FinishReason, isWhole: boolean): string =>
  isWhole || finish === 'length' ? geminiReasonOf(finish) : 'MALFORMED_FUNCTION_CALL'

function textOf(candidates: readonly Candidate[], { publicModel, requestId }: AnswerFacts, usage?: Usage): string {
  const metadata = usage === undefined ? '' : `"usageMetadata":${writeGeminiUsage(usage)},`
  const rest = JSON.stringify({ modelVersion: publicModel, responseId: requestId }).slice(1)
  return `{"candidates":${JSON.stringify(candidates)},${metadata}${rest}`
}

/** Whether a call was cut before its first argument. Such a call must not look like one without arguments. */
const isCutCall = (part: OutputPart | undefined, finish: FinishReason): boolean =>
  finish === 'length' && part?.kind === 'tool_call' && part.arguments.trim() === ''

function writeReply({ choices }: Reply, answer: AnswerFacts, usage: Usage): string {
  const candidates = choices.map(({ parts: all, finish }, index): Candidate => {
    const parts = isCutCall(all.at(-1), finish) ? all.slice(0, -1) : all
    const written = parts.map(writePart)
    const isWhole = !parts.some((part, i) => part.kind === 'tool_call' && !written[i])
    const kept = written.filter((part) => part !== undefined)
    return { content: contentOf(kept), finishReason: finishReasonOf(finish, isWhole), index }
  })
  return textOf(candidates, answer, usage)
}

type CallPart = Extract<OutputPart, { kind: 'tool_call' }>
/** One candidate of a stream: the call that is still arriving, and how the candidate ended. */
type State = {
  call: CallPart | undefined
  isWhole: boolean
  finish: FinishReason | undefined
  saying?: 'text' | 'refusal'
}

/** This dialect has whole calls only, so a call waits for its last argument. The finish waits for the settlement. */
class GeminiEncoder implements StreamEncoder {
  private readonly answer: AnswerFacts
  private readonly thoughts: Thoughts
  private readonly states = new Map<number, State>()

  constructor(answer: AnswerFacts, thoughts: Thoughts) {
    this.answer = answer
    this.thoughts = thoughts
  }

  encode(deltas: readonly Delta[]): string {
    let text = ''
    for (const delta of deltas) text += this.one(delta)
    return text
  }

  private one(delta: Delta): string {
    const state = this.stateOf(delta.choice)
    if (delta.kind === 'arguments') {
      if (state.call) state.call = { ...state.call, arguments: state.call.arguments + delta.text }
      return ''
    }
    if (delta.kind === 'finish' && isCutCall(state.call, delta.reason)) state.call = undefined
    const before = this.flush(delta.choice, state)
    switch (delta.kind) {
      case 'text':
        state.saying = 'text'
        return before + this.chunk(delta.choice, { text: delta.text })
      case 'refusal': {
        // Clients join the texts of a stream. A refusal after a partial answer must not continue its last word.
        const begin = state.saying === 'text' ? '\n\n' : ''
        state.saying = 'refusal'
        return before + this.chunk(delta.choice, { text: begin + delta.text })
      }
      case 'reasoning':
        if (this.thoughts === 'hidden') return before
        return before + this.chunk(delta.choice, { text: delta.text, thought: true })
      case 'sealed':
        return before + this.chunk(delta.choice, sealedPart(delta.sealed))
      case 'call': {
        const { id, name, tool, sealed } = delta
        state.call = { kind: 'tool_call', id, name, tool, sealed, arguments: '' }
        return before
      }
      case 'finish':
        state.finish = delta.reason
        return before
      case 'own':
        return before
    }
  }

  private stateOf(choice: number): State {
    const state = this.states.get(choice) ?? { call: undefined, isWhole: true, finish: undefined }
    this.states.set(choice, state)
    return state
  }

  private flush(choice: number, state: State): string {
    const { call } = state
    if (!call) return ''
    state.call = undefined
    const part = callPart(call)
    if (!part) state.isWhole = false
    return part ? this.chunk(choice, part) : ''
  }

  private chunk(index: number, part: object): string {
    return dataEvent(textOf([{ content: contentOf([part]), index }], this.answer))
  }

  end(usage: Usage): string {
    const candidates = [...this.states].map(([index, { finish = 'stop', isWhole }]): Candidate => ({
      content: contentOf([]),
      finishReason: finishReasonOf(finish, isWhole),
      index,
    }))
    return dataEvent(textOf(candidates, this.answer, usage))
  }

  fail(failure: Failure): string {
    return dataEvent(writeGeminiFailure(failure).body)
  }
}
