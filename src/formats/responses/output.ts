/** Output items as neutral parts make them. */
import type { OutputPart, Reply, Sealed } from '../../domain/turn.ts'
import type { Fields } from '../fields.ts'
import { outputItemId, tailOf, type Item } from './items.ts'
import { sealedText } from './sealed.ts'

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export const textPart = (text: string): Fields => ({ type: 'output_text', text, annotations: [], logprobs: [] })
export const refusalPart = (refusal: string): Fields => ({ type: 'refusal', refusal })
export const summaryPart = (text: string): Fields => ({ type: 'summary_text', text })

export const messageItem = (
  responseId: string,
  index: number,
  { status, content }: { readonly status: ItemStatus; readonly content: readonly Fields[] },
): Item => ({ id: outputItemId(responseId, 'message', index), type: 'message', status, role: 'assistant', content })

type Reasoning = { readonly status: ItemStatus; readonly text: string; readonly sealed: Sealed | undefined }

export const reasoningItem = (responseId: string, index: number, { status, text, sealed }: Reasoning): Item => ({
  id: outputItemId(responseId, 'reasoning', index),
  type: 'reasoning',
  status,
  summary: text === '' ? [] : [summaryPart(text)],
  content: [],
  encrypted_content: sealed ? sealedText(sealed) : null,
})

export type Called = {
  readonly status: ItemStatus
  readonly callId: string
  readonly name: string
  readonly tool: 'function' | 'custom'
  readonly input: string
  readonly sealed: Sealed | undefined
}

export function callItem(responseId: string, index: number, call: Called): Item {
  const { status, name, tool, input } = call
  const type = tool === 'custom' ? 'custom_tool_call' : 'function_call'
  return {
    id: outputItemId(responseId, type, index),
    type,
    status,
    call_id: call.callId === '' ? `call_${tailOf(responseId)}_${index}` : call.callId,
    name,
    ...(tool === 'custom' ? { input } : { arguments: input }),
    // The format has no place for it; a client that sends its items back as they came brings it along.
    ...(call.sealed ? { tollgate_sealed: sealedText(call.sealed) } : {}),
  }
}

/** The items of a whole reply. Text and refusals side by side are one message. */
export function itemsOf(choice: Reply['choices'][number] | undefined, responseId: string): Item[] {
  const items: Item[] = []
  let content: Fields[] | undefined
  for (const part of choice?.parts ?? []) {
    if (part.kind === 'text' || part.kind === 'refusal') {
      const said = part.kind === 'text' ? textPart(part.text) : refusalPart(part.text)
      if (content) content.push(said)
      else items.push(messageItem(responseId, items.length, { status: 'completed', content: (content = [said]) }))
      continue
    }
    content = undefined
    items.push(otherItem(part, responseId, items.length))
  }
  const last = items.pop()
  if (!last) return items
  const isCut = choice?.finish === 'length' || choice?.finish === 'content_filter'
  return [...items, isCut ? { ...last, status: 'incomplete' } : last]
}

type Rest = Exclude<OutputPart, { kind: 'text' | 'refusal' }>

function otherItem(part: Rest, responseId: string, index: number): Item {
  const status = 'completed'
  if (part.kind === 'reasoning') {
    return reasoningItem(responseId, index, { status, text: part.text, sealed: part.sealed })
  }
  const { id, name, tool, sealed } = part
  return callItem(responseId, index, { status, callId: id, name, tool, input: part.arguments, sealed })
}
