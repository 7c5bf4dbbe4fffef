/**
 * The history of a request in a form that every vendor accepts. The arguments of a call are the JSON text of an object,
 * and each call has a result. Data that the gateway put into answers of other formats goes to no vendor of this one.
 */
import { argumentsIn, toolOfCall } from '../core/call-arguments.ts'
import { isTaken } from '../../vendors/fit.ts'
import type { Rule } from '../../vendors/rules.ts'
import { CallIds } from '../core/call-ids.ts'
import { asFields, asList, asText, fieldsIn, type Fields } from '../core/fields.ts'
import { NO_RESULT, withResults } from '../core/open-calls.ts'
import { isSealedDetail } from './reasoning-details.ts'

type Lawful = { readonly messages: readonly Fields[]; readonly dropped: readonly string[] }

const NOTHING: readonly string[] = []
const askers = new Set<unknown>(['user', 'system', 'developer'])
/** Whether a message is neither a model's nor a tool's. */
const isAsked = ({ role }: Fields): boolean => askers.has(role)

/** The messages and the names of what was left out. Returns the same list if nothing has to change. */
export function lawfulHistory(all: readonly Fields[], rules?: readonly Rule[]): Lawful {
  if (all.every(isAsked)) return { messages: all, dropped: NOTHING }
  const messages = withoutSilent(all)
  const isSigned = isTaken('call_signatures', rules)
  const isOddMessage = (message: Fields): boolean =>
    isSealed(message) || callsIn(message).some((call) => isOdd(call) || (!isSigned && isSignedCall(call)))
  const dropped = messages.some((message) => isSealed(message) || (!isSigned && callsIn(message).some(isSignedCall)))
    ? ['reasoning']
    : []
  const plain = messages.some(isOddMessage)
    ? messages.map((message) => (isOddMessage(message) ? lawfulMessage(message, isSigned) : message))
    : messages
  const named = plain.some(hasOddIds) ? withLawfulIds(plain) : plain
  const answered = isAnswered(named) ? named : withResults(named, reading)
  return { messages: answered, dropped }
}

const isNothing = (value: unknown): boolean =>
  (value ?? null) === null || value === '' || (Array.isArray(value) && value.length === 0)

/**
 * An answer with no content, which its client sends back. Moonshot and Mistral refuse it in this turn and in each that
 * follows (`must not be empty`, `must have either content or tool_calls`, 2026-11).
 */
const isSilent = (message: Fields): boolean =>
  message['role'] === 'assistant' &&
  Object.entries(message).every(([name, value]) => name === 'role' || isNothing(value))

/** The messages without such answers, unless they are all there is. */
function withoutSilent(messages: readonly Fields[]): readonly Fields[] {
  if (!messages.some(isSilent)) return messages
  const said = messages.filter((message) => !isSilent(message))
  return said.length === 0 ? messages : said
}

const callsIn = ({ tool_calls: calls }: Fields): readonly unknown[] => (Array.isArray(calls) ? calls : [])

const isOdd = (one: unknown): boolean => {
  const call = asFields(one)
  const body = fieldsIn(call['function'])
  return body !== undefined && toolOfCall(call) === 'function' && argumentsIn(body) !== body['arguments']
}
const isSignedCall = (one: unknown): boolean => asFields(asFields(one)['extra_content'])['google'] !== undefined
const isSealed = ({ reasoning_details: details }: Fields): boolean => asList(details).some(isSealedDetail)

function lawfulMessage(message: Fields, isSigned: boolean): Fields {
  const { reasoning_details: details, tool_calls: calls, ...rest } = message
  const kept = asList(details).filter((detail) => !isSealedDetail(detail))
  return {
    ...rest,
    ...(details === undefined || (kept.length === 0 && isSealed(message)) ? {} : { reasoning_details: kept }),
    ...(calls === undefined ? {} : { tool_calls: callsIn(message).map((call) => lawfulCall(call, isSigned)) }),
  }
}

function lawfulCall(one: unknown, isSigned: boolean): unknown {
  const { extra_content: extra, ...call } = asFields(one)
  const body = asFields(call['function'])
  return {
    ...call,
    ...(isOdd(one) ? { function: { ...body, arguments: argumentsIn(body) } } : {}),
    ...(extra === undefined || (!isSigned && isSignedCall(one)) ? {} : { extra_content: extra }),
  }
}

const idsIn = (message: Fields): readonly string[] => callsIn(message).map((call) => asText(asFields(call)['id']))

/** OpenAI refuses more (orchidfiles/ungate#26). */
const ID_CHARS_MAX = 40

/** Whether two calls of one message have the same id, or an id is longer than every vendor accepts. */
function hasOddIds(message: Fields): boolean {
  const ids = idsIn(message)
  return new Set(ids).size < ids.length || ids.some((id) => id === '' || id.length > ID_CHARS_MAX)
}

function withLawfulIds(messages: readonly Fields[]): readonly Fields[] {
  const ids = new CallIds('chat')
  return messages.map((message) => {
    const { role, tool_calls: calls, tool_call_id: callId } = message
    if (role === 'tool') return { ...message, tool_call_id: ids.ofResult(asText(callId)) }
    if (role !== 'assistant') return message
    ids.begin()
    if (!Array.isArray(calls)) return message
    return {
      ...message,
      tool_calls: calls.map((call: unknown) => ({ ...asFields(call), id: ids.ofCall(asText(asFields(call)['id'])) })),
    }
  })
}

const reading = {
  callsOf: (message: Fields) => (message['role'] === 'assistant' ? idsIn(message) : []),
  answers: ({ role, tool_call_id: id }: Fields) => (role === 'tool' ? asText(id) : undefined),
  noResult: (id: string): Fields => ({ role: 'tool', tool_call_id: id, content: NO_RESULT }),
}

/** Whether the results of each message's calls come after it, in any order. */
function isAnswered(messages: readonly Fields[]): boolean {
  const open = new Set<string>()
  for (const message of messages) {
    if (message['role'] === 'tool') open.delete(asText(message['tool_call_id']))
    else if (open.size > 0) return false
    for (const id of reading.callsOf(message)) open.add(id)
  }
  return open.size === 0
}
