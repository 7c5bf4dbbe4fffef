/** Makes output items from neutral parts. */
import type { OutputPart, Reply, SealedData } from '../../domain/turn.ts'
import type { Fields } from '../core/fields.ts'
import { agentCallFields, isAgentCall } from './agent-tools.ts'
import { outputItemId, tailOf, type Item } from './items.ts'
import { sealedText } from './sealed.ts'
import type { CallShape, CallNames } from './call-names.ts'

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export const textPart = (text: string): Fields => ({ type: 'output_text', text, annotations: [], logprobs: [] })
export const refusalPart = (refusal: string): Fields => ({ type: 'refusal', refusal })
export const summaryPart = (text: string): Fields => ({ type: 'summary_text', text })

export const messageItem = (
  responseId: string,
  index: number,
  {
    status,
    content,
    own,
  }: { readonly status: ItemStatus; readonly content: readonly Fields[]; readonly own?: OwnFields },
): Item => ({
  id: outputItemId(responseId, 'message', index),
  type: 'message',
  status,
  role: 'assistant',
  content,
  ...own,
})

/** Fields of an item that only this format has. They pass from a vendor of the format to its clients. */
export type OwnFields = Fields | undefined

type Reasoning = {
  readonly status: ItemStatus
  readonly text: string
  readonly sealed: SealedData | undefined
  /** Whether the seal belongs to the call after this item. Clients send it back here, and in no field of a call. */
  readonly isOfCall?: boolean
  readonly own?: OwnFields
}

export const reasoningItem = (
  responseId: string,
  index: number,
  { status, text, sealed, isOfCall, own }: Reasoning,
): Item => ({
  id: outputItemId(responseId, 'reasoning', index),
  type: 'reasoning',
  status,
  summary: text === '' ? [] : [summaryPart(text)],
  content: [],
  ...own,
  // Left out if there is none. The open specification has no null for it (openresponses.org, 2026-07).
  ...(sealed ? { encrypted_content: sealedText(sealed, isOfCall ? 'call' : undefined) } : {}),
})

export type OutputCallItem = {
  readonly status: ItemStatus
  readonly callId: string
  readonly name: string
  readonly tool: 'function' | 'custom'
  readonly namespace?: string | undefined
  readonly input: string
  readonly own?: OwnFields
}

/** The client's name for the called tool. If no tool of that name was declared, the model's name is kept. */
export function shapeOfCall({ name, tool, namespace }: CallIdentity, names: CallNames): CallShape {
  const type = tool === 'custom' ? 'custom_tool_call' : 'function_call'
  if (namespace !== undefined) return { type, name, namespace }
  const shape = names.shapeOf(name)
  return shape && isAgentCall(shape.type) ? shape : { name, ...shape, type }
}

type CallIdentity = Pick<OutputCallItem, 'name' | 'tool' | 'namespace'>

export function callItem(
  responseId: string,
  index: number,
  { call, shape }: { call: OutputCallItem; shape: CallShape },
): Item {
  const { status, input } = call
  const { type, name, namespace } = shape
  return {
    ...call.own,
    id: outputItemId(responseId, type, index),
    type,
    status,
    call_id: call.callId === '' ? `call_${tailOf(responseId)}_${index}` : call.callId,
    ...(isAgentCall(type) ? agentCallFields(type, input) : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(type === 'custom_tool_call' ? { input } : type === 'function_call' ? { arguments: input } : {}),
  }
}

/** The items of a whole reply. Adjacent text and refusals are one message. */
export function itemsOf(choice: Reply['choices'][number] | undefined, responseId: string, names: CallNames): Item[] {
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
    if (part.kind === 'tool_call' && part.sealed) addSeal(items, part.sealed, responseId)
    items.push(otherItem(part, names, { responseId, index: items.length }))
  }
  const last = items.pop()
  if (!last) return items
  const isCut = choice?.finish === 'length' || choice?.finish === 'content_filter'
  return [...items, isCut ? { ...last, status: 'incomplete' } : last]
}

/** Adds the seal of a call to the reasoning before it, or to an empty reasoning item. */
function addSeal(items: Item[], sealed: SealedData, responseId: string): void {
  const before = items.at(-1)
  if (before?.type === 'reasoning' && (before['encrypted_content'] ?? null) === null) {
    items[items.length - 1] = { ...before, encrypted_content: sealedText(sealed, 'call') }
    return
  }
  items.push(reasoningItem(responseId, items.length, { status: 'completed', text: '', sealed, isOfCall: true }))
}

type OtherPart = Exclude<OutputPart, { kind: 'text' | 'refusal' }>

function otherItem(
  part: OtherPart,
  names: CallNames,
  { responseId, index }: { responseId: string; index: number },
): Item {
  const status = 'completed'
  if (part.kind === 'reasoning') {
    return reasoningItem(responseId, index, { status, text: part.text, sealed: part.sealed })
  }
  const call = { ...part, status, callId: part.id, input: part.arguments } as const
  return callItem(responseId, index, { call, shape: shapeOfCall(part, names) })
}
