/**
 * Requests of this format for a vendor that takes all of it. They go up as the client wrote them, with unknown fields
 * and items. Exceptions are what the gateway does itself (it keeps the conversation) and what has no price.
 */
import type { Turn } from '../../domain/turn.ts'
import { fit, isTaken } from '../../vendors/fit.ts'
import { asFields, asList, asText, ownIn, textIn, type Fields } from '../core/fields.ts'
import type { Destination, UpstreamRequest } from '../core/contract.ts'
import { isOwnSeal } from '../core/own-seals.ts'
import { ToolNames } from '../core/tool-names.ts'
import { readAgentCall, readAgentOutput, isAgentOutput } from './agent-tools.ts'
import type { CallNames, CallShape } from './call-names.ts'
import { compactionIn, isCompaction } from './compaction.ts'
import { responseOfItem } from './items.ts'
import { withLawfulCalls } from './native-calls.ts'
import type { ResponsesBody } from './request.ts'
import { sealedFrom } from './sealed.ts'
import { isPriced } from './tools.ts'
import { shapeOfItem, type ResponsesTurn } from './turn.ts'
import { isBrokenCall, isCall } from './item-kinds.ts'
import { choiceFor, toolFor } from './upstream-side.ts'

export type NativeRequest = {
  readonly body: ResponsesBody
  /** The whole conversation. */
  readonly items: readonly Fields[]
  readonly read: ResponsesTurn
  readonly stream: boolean
}

/** Fields that the gateway decides or handles itself. */
const ours = new Set(
  `model input previous_response_id store background stream metadata service_tier max_output_tokens include tools`.split(
    ' ',
  ),
)

const SEALED = 'reasoning.encrypted_content'

/**
 * A vendor's rules say whether its models take this format natively, and whether they also take what agents send
 * besides functions.
 */
export function writeNative({ body, items, read, stream }: NativeRequest, to: Destination): UpstreamRequest {
  const { turn, names } = read
  const dropped = new Set<string>()
  const takesAgents = isTaken('agent_items', to.quirks.rules)
  const kept = (body.tools ?? []).filter((tool) => !isLeft(tool, dropped))
  const fitted = new ToolNames(turn, 'responses')
  const tools = takesAgents ? kept : fitted.turn.tools.map(toolFor)
  const declares = tools.length > 0 || (takesAgents && items.some(({ type }) => type === 'additional_tools'))
  const { tool_choice: choice, parallel_tool_calls: parallel, ...wishes } = withoutOurs(body)
  const written: Fields = {
    model: to.upstreamModel,
    ...wishes,
    input: itemsFor(items, {
      dropped,
      nameOf: takesAgents ? undefined : (shape) => fitted.fit(names.claim(shape)),
      names,
      account: to.quirks.account,
    }),
    store: false,
    include: [...new Set([...(body.include ?? []), SEALED])],
    ...(stream ? { stream: true } : {}),
    max_output_tokens: to.outputTokensMax,
    ...(tools.length > 0 ? { tools } : {}),
    ...(declares
      ? { parallel_tool_calls: parallel, tool_choice: takesAgents ? choice : plainChoice(fitted.turn) }
      : {}),
  }
  const { changes, dropped: unfit } = fit(written, to.quirks.rules)
  return {
    path: '/responses',
    headers: {},
    body: JSON.stringify({ ...written, ...changes }),
    dropped: [...dropped, ...unfit],
  }
}

const plainChoice = ({ toolChoice, tools }: Turn): unknown => toolChoice && choiceFor(toolChoice, tools)

const withoutOurs = (body: ResponsesBody): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([name, value]) => !ours.has(name) && (value ?? null) !== null))

function isLeft(tool: Fields, dropped: Set<string>): boolean {
  if (!isPriced(tool)) return false
  dropped.add(`tools.${textIn(tool['type']) ?? 'unknown'}`)
  return true
}

type ItemWriteContext = {
  readonly dropped: Set<string>
  readonly names: CallNames
  /** The plain name of a tool. Undefined if the vendor takes namespaces and call types of its own. */
  readonly nameOf: ((shape: CallShape) => string) | undefined
  readonly account: string | undefined
}

function itemsFor(items: readonly Fields[], writing: ItemWriteContext): Fields[] {
  const written = withLawfulCalls(items).flatMap((item) => itemFor(item, writing))
  // Reasoning without the item it led to is refused, and that item may have been left out (OpenAI, 2026-11).
  let leadsOn = false
  const kept = written.toReversed().filter((item) => {
    if (item['type'] === 'reasoning') return leadsOn
    leadsOn = isModels(item)
    return true
  })
  return kept.toReversed()
}

const clients = new Set<unknown>(['additional_tools', 'agent_message', 'compaction_trigger', 'configuration_update'])

/** Whether the model made an item. */
const isModels = ({ type, role }: Fields): boolean =>
  type === 'message' ? role === 'assistant' : !clients.has(type) && !asText(type).endsWith('_output')

function itemFor(item: Fields, writing: ItemWriteContext): Fields[] {
  const { dropped, names, nameOf } = writing
  const { type } = item
  if (isBrokenCall(item)) return []
  if (type === 'reasoning') return reasoningFor(item, writing)
  if (isCompaction(type)) {
    const summary = compactionIn(item)
    // Only the gateway can read its own summary. The vendor gets it as a user message.
    return summary ? [{ type: 'message', role: 'user', content: contentOf(summary.parts) }] : [item]
  }
  if (nameOf && type === 'additional_tools') return []
  if (nameOf && isAgentOutput(type)) {
    const output = readAgentOutput(item, names)
    return [{ type: 'function_call_output', call_id: item['call_id'] ?? item['id'], output }]
  }
  const call = nameOf && isCall(type) ? plainCall(item, nameOf(shapeOfItem(item))) : item
  return [plain(withPricedToolsLeft(call, dropped), dropped)]
}

const contentOf = (parts: readonly { readonly kind: string }[]): Fields[] =>
  parts.flatMap((part) => ('text' in part ? [{ type: 'input_text', text: part.text }] : []))

function plainCall(item: Fields, name: string): Fields {
  const agent = readAgentCall(item)
  if (agent) return { type: 'function_call', call_id: item['call_id'], name, arguments: agent.words }
  const { namespace: _, ...rest } = item
  return { ...rest, name }
}

/** The tools that an item declares, without those that run at the vendor for a price. */
function withPricedToolsLeft(item: Fields, dropped: Set<string>): Fields {
  const { type, tools } = item
  if (type !== 'additional_tools' && type !== 'tool_search_output') return item
  return { ...item, tools: asList(tools).filter((tool) => !isLeft(asFields(tool), dropped)) }
}

/** An item without fields that the gateway added and without data of other vendors. */
function plain(item: Fields, dropped: Set<string>): Fields {
  const { id, status, tollgate_sealed: seal, ...rest } = item
  if (seal !== undefined) dropped.add('reasoning')
  const written: Record<string, unknown> = { ...rest }
  if (isTheirs(item)) written['id'] = id
  if (status !== undefined && status !== 'completed') written['status'] = status
  if (rest['type'] === 'message') written['content'] = asList(rest['content']).map(plainPart)
  return written
}

/** How ids have to begin ("Expected an ID that begins with 'msg'", OpenAI, 2026-11). */
const beginnings: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
}

/** Whether an item's id may go up. Ids that the gateway made mean nothing there. */
function isTheirs({ type, id }: Fields): boolean {
  const kind = asText(type)
  // The output of a local shell names its call by this id, even if the gateway made it.
  if (kind.startsWith('local_shell_call')) return true
  if (typeof id !== 'string' || responseOfItem(id) !== undefined) return false
  return id.startsWith(ownIn(beginnings, kind) ?? '')
}

function plainPart(part: unknown): Fields {
  return Object.fromEntries(
    Object.entries(asFields(part)).filter(([, value]) => !Array.isArray(value) || value.length > 0),
  )
}

function reasoningFor(item: Fields, { dropped, account }: ItemWriteContext): Fields[] {
  const seal = textIn(item['encrypted_content'])
  const sealed = seal === undefined ? undefined : sealedFrom(seal)
  // The vendor would refuse it without its seal, or with another vendor's.
  if (sealed?.origin !== 'responses' || !isOwnSeal(sealed, account)) {
    dropped.add('reasoning')
    return []
  }
  const { id, status: _, content, ...rest } = item
  const own = sealed.form ?? (isTheirs(item) ? id : undefined)
  const words = asList(content).length > 0 ? { content } : {}
  return [{ ...rest, ...(own === undefined ? {} : { id: own }), ...words, encrypted_content: sealed.data }]
}
