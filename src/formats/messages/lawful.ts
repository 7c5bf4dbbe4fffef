/** Changes what models of other dialects left in a conversation into what a vendor of this dialect accepts. */
import { parseExact } from '../../lib/json/exact-json.ts'
import type { Members } from '../../lib/json/json-members.ts'
import type { Edit } from '../../lib/json/json-edit.ts'
import { CallIds } from '../core/call-ids.ts'
import { asFields, asList, asText, fieldListIn, type Fields } from '../core/fields.ts'
import { NO_RESULT } from '../core/open-calls.ts'
import { claudeFamilyOf } from '../../vendors/claude-families.ts'
import { blocksOf } from './content.ts'
import { lawfulBlocks } from './lawful-answer.ts'
import { readStamp } from './seal.ts'

type WireMessage = { readonly role: string; readonly content: unknown }
type LawfulInput = {
  readonly body: Fields & { readonly messages: readonly WireMessage[] }
  readonly text: string
  readonly members: Members
}

type Lawful = { readonly edits: readonly Edit[]; readonly dropped: readonly string[] }
const AS_IT_IS: Lawful = { edits: [], dropped: [] }

/**
 * The edits of a body that a vendor of this dialect would refuse. Thinking of another dialect's model is removed,
 * because its signatures are the gateway's. If the model cannot continue without it, its thinking setting is removed
 * too, and the answer names the setting. Ids of calls that other vendors made become lawful, and their inputs become
 * objects. Interrupted calls get a result.
 */
export function lawfulEdits({ body, text, members }: LawfulInput, upstreamModel: string): Lawful {
  const hasStrangers = body.messages.some(
    ({ role, content }) => role === 'assistant' && blocksOf(content).some(isStranger),
  )
  const isOdd = hasStrangers || hasOddIds(body.messages) || hasOddCalls(body.messages) || hasOpenCalls(body.messages)
  const isThinking = asFields(body['thinking'])['type'] === 'enabled'
  if (!isOdd) return isThinking && lostThought(body.messages) ? withoutBudget(body, upstreamModel) : AS_IT_IS
  const span = members.get('messages')
  // Parsed exactly, so that the numbers in a tool's arguments leave as they came.
  const read = fieldListIn(span && parseExact(text.slice(span.start, span.end))) ?? []
  const messages = withAllResults(withLawfulIds(withoutStrangers(read))).map(withLawfulCalls)
  const edits: Edit[] = [{ key: 'messages', value: JSON.stringify(messages) }]
  if (!isThinking || !lostThought(messages)) return { edits, dropped: [] }
  const thinking = withoutBudget(body, upstreamModel)
  return { edits: [...edits, ...thinking.edits], dropped: thinking.dropped }
}

/** A model with adaptive thinking may begin to think in the middle of a turn (docs: adaptive thinking). */
function withoutBudget(body: Fields, upstreamModel: string): Lawful {
  if (claudeFamilyOf(upstreamModel).thinking === 'budget') {
    return { edits: [{ key: 'thinking', value: undefined }, ...withoutClearing(body)], dropped: ['thinking'] }
  }
  const { display = 'summarized' } = asFields(body['thinking'])
  const value = JSON.stringify({ type: 'adaptive', display })
  return { edits: [{ key: 'thinking', value }], dropped: ['thinking.budget_tokens'] }
}

const hasOddCalls = (messages: readonly WireMessage[]): boolean =>
  messages.some((message) => withLawfulCalls(message) !== message)

function withLawfulCalls<T extends Fields>(message: T): T {
  if (message['role'] !== 'assistant' || !Array.isArray(message['content'])) return message
  const blocks = contentOf(message)
  const content = lawfulBlocks(blocks)
  return content === blocks ? message : { ...message, content }
}

const isStranger = ({ type, signature }: Fields): boolean =>
  type === 'thinking' && typeof signature === 'string' && readStamp(signature) !== undefined

const withoutStrangers = (messages: readonly Fields[]): readonly Fields[] =>
  messages.flatMap((message) => {
    const blocks = contentOf(message)
    if (message['role'] !== 'assistant' || !blocks.some(isStranger)) return [message]
    const kept = blocks.filter((block) => !isStranger(block))
    return kept.length === 0 ? [] : [{ ...message, content: kept }]
  })

const contentOf = (message: Fields): readonly Fields[] => asList(message['content']).map(asFields)

const idOf = ({ type, id, tool_use_id: callId }: Fields): string | undefined =>
  type === 'tool_use' ? asText(id) : type === 'tool_result' ? asText(callId) : undefined

/** Whether the vendor would refuse an id for its characters, or because an earlier call has it. */
function hasOddIds(messages: readonly WireMessage[]): boolean {
  const calls = new Set<string>()
  for (const { content } of messages) {
    for (const block of asList(content).map(asFields)) {
      const id = idOf(block)
      if (id === undefined) continue
      if (!/^[\w-]+$/.test(id)) return true
      if (block['type'] !== 'tool_use') continue
      if (calls.has(id)) return true
      calls.add(id)
    }
  }
  return false
}

function withLawfulIds(messages: readonly Fields[]): readonly Fields[] {
  const ids = new CallIds('messages')
  return messages.map((message) => {
    if (!Array.isArray(message['content'])) return message
    if (message['role'] === 'assistant') ids.begin()
    const content = contentOf(message).map((block) => {
      const id = idOf(block)
      if (id === undefined) return block
      return block['type'] === 'tool_use'
        ? { ...block, id: ids.ofCall(id) }
        : { ...block, tool_use_id: ids.ofResult(id) }
    })
    return { ...message, content }
  })
}

const idsOf = (message: WireMessage | undefined, role: string, type: string): readonly string[] =>
  message?.role === role
    ? asList(message.content)
        .map(asFields)
        .flatMap((block) => (block['type'] === type ? (idOf(block) ?? []) : []))
    : []

const openCalls = (message: WireMessage, next: WireMessage | undefined): readonly string[] => {
  const calls = idsOf(message, 'assistant', 'tool_use')
  if (calls.length === 0) return calls
  const answered = new Set(idsOf(next, 'user', 'tool_result'))
  return calls.filter((id) => !answered.has(id))
}

const hasOpenCalls = (messages: readonly WireMessage[]): boolean =>
  messages.some((message, i) => openCalls(message, messages[i + 1]).length > 0)

const noResult = (id: string): Fields => ({ type: 'tool_result', tool_use_id: id, content: NO_RESULT })

/** The results stand in the message after their calls, before anything else. */
function withAllResults(messages: readonly Fields[]): readonly Fields[] {
  const spoken = messages as readonly (Fields & WireMessage)[]
  let results: readonly Fields[] = []
  return spoken.flatMap((message, i): Fields[] => {
    const said = results.length === 0 ? message : { ...message, content: [...results, ...blocksOf(message.content)] }
    const next = spoken[i + 1]
    const missing = openCalls(message, next).map(noResult)
    results = next?.role === 'user' ? missing : []
    return missing.length === 0 || next?.role === 'user' ? [said] : [said, { role: 'user', content: missing }]
  })
}

/** Whether a tool result answers a message whose thinking is lost. */
function lostThought(messages: readonly Fields[]): boolean {
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const answers = messages.slice(at + 1)
  const caller = at === -1 ? undefined : messages[at]
  if (!caller || !answers.some((answer) => contentOf(answer).some(({ type }) => type === 'tool_result'))) return false
  const first = contentOf(caller)[0]?.['type']
  return first !== 'thinking' && first !== 'redacted_thinking'
}

/** A request that does not think may not clear old thinking: the vendor refuses it. */
function withoutClearing(body: Fields): Edit[] {
  const management = asFields(body['context_management'])
  const before = asList(management['edits'])
  const edits = before.filter((edit) => !asText(asFields(edit)['type']).startsWith('clear_thinking'))
  if (edits.length === before.length) return []
  const value = edits.length === 0 ? undefined : JSON.stringify({ ...management, edits })
  return [{ key: 'context_management', value }]
}
