/**
 * Makes a conversation with other models acceptable to a model of this API. The model's own signatures stay, and a
 * stand-in replaces a missing one. Thoughts that another vendor sealed are removed. Each call gets a result.
 */
import { parseExact } from '../../lib/json/exact-json.ts'
import { asFields, asText, type Fields } from '../core/fields.ts'
import { NO_RESULT } from '../core/open-calls.ts'
import { callsOfResults } from './call-results.ts'
import type { GeminiFamily } from '../../vendors/gemini-families.ts'
import { isFields, listedItems, mapMember, memberOf, partsOf } from './members.ts'
import type { GeminiBody, GeminiContent } from './request.ts'
import { isForeign, SKIP_VALIDATOR } from './signature.ts'

/** The parts of a conversation that its model would refuse. */
export type Strangers = {
  readonly thoughts: boolean
  /** A call without a signature, or without a result. */
  readonly calls: boolean
}

export const strangersIn = ({ contents }: GeminiBody, family: GeminiFamily): Strangers => ({
  thoughts: contents.some(({ parts }) => parts?.some(({ thoughtSignature: own }) => own && isForeign(own))),
  calls: contents.some((content) => isUnsigned(content, family)) || hasOpenCalls(contents),
})

const isUnsigned = ({ role, parts }: GeminiContent, { signatures }: GeminiFamily): boolean => {
  const first = role === 'model' && signatures === 'required' && parts?.find(({ functionCall }) => functionCall)
  return first ? !first.thoughtSignature : false
}

/** Results may stand in several contents after their calls. */
function hasOpenCalls(contents: GeminiBody['contents']): boolean {
  let open = 0
  let isCalling = false
  for (const { role, parts } of contents) {
    const isModel = role === 'model'
    if (isModel && !isCalling && open > 0) return true
    isCalling = isModel
    for (const { functionCall, functionResponse } of parts ?? []) {
      if (isModel && functionCall) open++
      else if (!isModel && functionResponse) open = Math.max(0, open - 1)
    }
  }
  return open > 0
}

/** A request's text without the parts that would be refused. Numbers keep their digits. */
export const withoutStrangers = (text: string, family: GeminiFamily): string =>
  JSON.stringify(
    mapMember(asFields(parseExact(text)), 'contents', (contents) =>
      withResults(listedItems(contents).flatMap((content) => lawfulContent(content, family))),
    ),
  )

const isModels = (content: unknown): boolean => memberOf(asFields(content), 'role') === 'model'

function lawfulContent(content: unknown, family: GeminiFamily): unknown[] {
  if (!isFields(content) || !isModels(content)) return [content]
  const parts = lawfulParts(partsOf(content), family)
  return parts.length === 0 ? [] : [mapMember(content, 'parts', () => parts)]
}

function lawfulParts(parts: readonly unknown[], { signatures }: GeminiFamily): Fields[] {
  let isFirst = true
  return parts.map(asFields).flatMap((part): Fields[] => {
    const signature = asText(memberOf(part, 'thoughtSignature'))
    const isOthers = isForeign(signature)
    if (isFields(memberOf(part, 'functionCall'))) {
      const lost = isFirst && signatures === 'required' ? SKIP_VALIDATOR : undefined
      isFirst = false
      if (signature !== '' && !isOthers) return [part]
      return [{ ...unsigned(part), ...(lost === undefined ? {} : { thoughtSignature: lost }) }]
    }
    if (!isOthers) return [part]
    const isThought = memberOf(part, 'thought') === true
    return isThought || asText(memberOf(part, 'text')) === '' ? [] : [unsigned(part)]
  })
}

const unsigned = (part: Fields): Fields => {
  const { thoughtSignature: _, thought_signature: __, ...rest } = part
  return rest
}

const membersOf = (parts: readonly unknown[], name: string): Fields[] =>
  parts.flatMap((part) => {
    const value = memberOf(asFields(part), name)
    return isFields(value) ? [value] : []
  })

/** A call without a result before the model's next content gets one in the content after it. */
function withResults(contents: readonly unknown[]): unknown[] {
  const answered = [...contents]
  const added: { readonly at: number; readonly calls: readonly Fields[]; readonly missing: readonly Fields[] }[] = []
  for (let at = 0; at < contents.length;) {
    const behind = endOf(contents, at, isModels)
    const end = endOf(contents, behind, (content) => !isModels(content))
    const calls = contents.slice(at, behind).flatMap((content) => membersOf(partsOf(content), 'functionCall'))
    const results = contents.slice(behind, end).flatMap((content) => membersOf(partsOf(content), 'functionResponse'))
    const missing = unanswered(calls, results)
    if (missing.length > 0) added.push({ at: behind, calls, missing })
    at = Math.max(end, at + 1)
  }
  for (const { at, calls, missing } of added.toReversed()) {
    const next = answered[at]
    if (!isFields(next) || isModels(next)) answered.splice(at, 0, { role: 'user', parts: missing.map(noResult) })
    else answered[at] = mapMember(next, 'parts', (parts) => withMissing(listedItems(parts), calls, missing))
  }
  return answered
}

/** The end of a run of contents of one kind. */
function endOf(contents: readonly unknown[], from: number, isOne: (content: unknown) => boolean): number {
  let at = from
  while (at < contents.length && isOne(contents[at])) at++
  return at
}

const noResult = ({ id, name }: Fields): Fields => ({
  functionResponse: { ...(id === undefined ? {} : { id }), name, response: { output: NO_RESULT } },
})

function unanswered(calls: readonly Fields[], results: readonly Fields[]): Fields[] {
  const answered = new Set(callsOfResults(calls, results))
  return calls.filter((_, place) => !answered.has(place))
}

/** The results in the order of their calls, which is their only link without ids. Other parts come after them. */
function withMissing(parts: readonly unknown[], calls: readonly Fields[], missing: readonly Fields[]): unknown[] {
  const results = parts.filter((part) => membersOf([part], 'functionResponse').length > 0)
  const places = callsOfResults(calls, membersOf(results, 'functionResponse'))
  const ofCalls = new Map<unknown, unknown>(missing.map((call) => [call, noResult(call)]))
  const moved = new Set<unknown>()
  for (const [i, result] of results.entries()) {
    const call = calls[places[i] ?? -1]
    if (call === undefined) continue
    ofCalls.set(call, result)
    moved.add(result)
  }
  const inOrder = calls.flatMap((call) => (ofCalls.has(call) ? [ofCalls.get(call)] : []))
  return [...inOrder, ...parts.filter((part) => !moved.has(part))]
}
