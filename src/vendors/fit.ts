/** Changes a request so that its vendor takes it. Fields that cannot be changed are left out and named. */
import type { Effort } from '../domain/turn.ts'
import { digestOf, withAlternateRoles, withFittedCallIds, withTextContent } from './chat-messages.ts'
import { vendorRules, type Limit, type Rule } from './rules.ts'

type Fields = Readonly<Record<string, unknown>>

/** The fields of a body that change (undefined: the field goes), and the names of options that were left out. */
export type FittedBody = { readonly changes: Fields; readonly dropped: readonly string[] }

/** By vendor and model. */
const known = new Map<string, Map<string, readonly Rule[]>>()
const KNOWN_MODELS_MAX = 10_000

/** A region or `global`, and the maker of the model: `us.anthropic.`, `openai.` (Bedrock, 2026-11). */
const PREFIXES =
  /^(?:[a-z]{2,6}\.)?(?:openai|anthropic|amazon|meta|mistral|deepseek|qwen|google|zai|moonshotai|minimax)\./

/** The rules for a model at a vendor. `vendor` is the id of a preset. */
export function rulesFor(vendor: string, upstreamModel: string): readonly Rule[] {
  let models = known.get(vendor)
  if (!models) known.set(vendor, (models = new Map()))
  const found = models.get(upstreamModel)
  if (found) return found
  const model = upstreamModel
    .slice(upstreamModel.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(PREFIXES, '')
  const those = vendorRules.filter(
    ({ vendors, notVendors, models }) =>
      (vendors?.includes(vendor) ?? true) && notVendors?.includes(vendor) !== true && (models?.test(model) ?? true),
  )
  // Some rules depend on the effort, so the effort is fitted first.
  const ordered = those.toSorted((a, b) => Number(b.takes === 'efforts') - Number(a.takes === 'efforts'))
  if (models.size < KNOWN_MODELS_MAX) models.set(upstreamModel, ordered)
  return ordered
}

/** Fits a body of the chat or the responses format. */
export function fit(body: Fields, those: readonly Rule[] = []): FittedBody {
  const draft = new Draft(body)
  for (const rule of those) apply(rule, draft)
  return draft
}

/** A body while it is fitted. */
class Draft implements FittedBody {
  readonly changes: Record<string, unknown> = {}
  readonly dropped: string[] = []
  private readonly body: Fields

  constructor(body: Fields) {
    this.body = body
  }

  get(field: string): unknown {
    return Object.hasOwn(this.changes, field)
      ? this.changes[field]
      : Object.hasOwn(this.body, field)
        ? this.body[field]
        : undefined
  }

  set(field: string, value: unknown): void {
    this.changes[field] = value
  }

  /** Removes a field. It counts as a dropped option unless it states the default. */
  drop(field: string): void {
    const value = this.get(field)
    if (value === undefined) return
    this.set(field, undefined)
    if (!isUsual(field, value)) this.dropped.push(field)
  }
}

/** Values that state a default. `stream_options` is one, too: its usage comes in any case. */
const usual: Fields = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  logprobs: false,
  top_logprobs: 0,
  store: false,
}
const isUsual = (field: string, value: unknown): boolean =>
  value === null || field === 'stream_options' || (Object.hasOwn(usual, field) && usual[field] === value)

function apply(limit: Limit, draft: Draft): void {
  switch (limit.takes) {
    case 'nothing':
      if (limit.unless !== undefined && effortOf(draft) === 'none') return
      if (limit.unless === 'effort_unset' && effortOf(draft) === undefined) return
      for (const field of limit.fields) draft.drop(field)
      return
    case 'name':
      if (draft.get(limit.field) === undefined) return
      draft.set(limit.as, draft.get(limit.field))
      draft.set(limit.field, undefined)
      return
    case 'number': {
      const value = draft.get(limit.field)
      if (typeof value !== 'number') return
      const nearest = Math.min(Math.max(value, limit.least ?? -Infinity), limit.most)
      if (nearest !== value) draft.set(limit.field, nearest)
      return
    }
    case 'items':
      return fitItems(limit, draft)
    case 'id':
      for (const field of limit.fields) fitId(field, limit, draft)
      return
    case 'efforts':
      return fitEffort(limit.efforts, draft)
    case 'system_role':
      return fitMessages(draft, asSystem)
    case 'call_ids':
      return fitMessages(draft, withFittedCallIds(limit.chars))
    case 'thoughts':
      return fitThoughts(draft)
    case 'text_content':
      return fitMessages(draft, withTextContent)
    case 'alternate_roles':
      return fitRoles(draft)
    case 'no_thoughts':
      return withoutThoughts(draft)
    case 'json_object':
      return fitFormat(draft)
    case 'object_schema':
      return fitRoot(draft)
    case 'custom_tools':
    case 'agent_items':
    case 'cache_key':
    case 'call_signatures':
      return // A writer asks for these.
    case 'elsewhere':
      return withoutReasoning(limit.what, draft)
  }
}

function fitItems({ field, most }: Extract<Limit, { takes: 'items' }>, draft: Draft): void {
  const value = draft.get(field)
  if (!Array.isArray(value) || value.length <= most) return
  draft.set(field, value.slice(0, most))
  draft.dropped.push(`${field}[${most}]`)
}

function fitId(field: string, { least = 0, most, form }: Extract<Limit, { takes: 'id' }>, draft: Draft): void {
  const value = draft.get(field)
  if (typeof value !== 'string' || value === '') return
  const isFit = value.length >= least && value.length <= most && (form?.test(value) ?? true)
  if (!isFit) draft.set(field, digestOf(value))
}

const efforts: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const asObject = (value: unknown): Fields => (isObject(value) ? value : {})

/** A field of its own in the chat format, a member of `reasoning` in the responses format. */
const effortOf = (draft: Draft): unknown => draft.get('reasoning_effort') ?? asObject(draft.get('reasoning'))['effort']

function fitEffort(taken: readonly Effort[], draft: Draft): void {
  const wanted = effortOf(draft)
  const rank = efforts.findIndex((effort) => effort === wanted)
  if (rank === -1 || taken.includes(wanted as Effort)) return
  const nearest = taken.find((effort) => efforts.indexOf(effort) >= rank) ?? taken.at(-1)
  if (draft.get('reasoning_effort') === wanted) draft.set('reasoning_effort', nearest)
  else draft.set('reasoning', { ...asObject(draft.get('reasoning')), effort: nearest })
}

type Change = (message: Fields) => Fields

/** The messages of the chat format, or the items of the responses format. */
function fitMessages(draft: Draft, change: Change): void {
  for (const field of ['messages', 'input']) {
    const before = draft.get(field)
    if (!Array.isArray(before)) continue
    const first = before.findIndex((message: unknown) => isObject(message) && change(message) !== message)
    if (first === -1) continue
    draft.set(
      field,
      before.map((message: unknown) => (isObject(message) ? change(message) : message)),
    )
  }
}

const asSystem: Change = (message) => (message['role'] === 'developer' ? { ...message, role: 'system' } : message)

/**
 * Stands for reasoning that is missing: another model gave none as text, or the client kept none. The vendor refuses a
 * turn without reasoning, and takes any text.
 */
const NO_THOUGHT = ' '

function fitThoughts(draft: Draft): void {
  const messages = draft.get('messages')
  const hasCalls = (message: unknown): boolean => Array.isArray(asObject(message)['tool_calls'])
  if (!Array.isArray(messages) || !messages.some(hasCalls)) return
  fitMessages(draft, (message) => {
    const { role, reasoning_content: thought, reasoning } = message
    if (role !== 'assistant' || (typeof thought === 'string' && thought !== '')) return message
    return { ...message, reasoning_content: typeof reasoning === 'string' && reasoning !== '' ? reasoning : NO_THOUGHT }
  })
}

const THOUGHTS = ['reasoning_content', 'reasoning_details', 'reasoning']

function withoutThoughts(draft: Draft): void {
  let isNamed = false
  fitMessages(draft, (message) => {
    if (message['role'] !== 'assistant' || !THOUGHTS.some((field) => field in message)) return message
    isNamed = true
    return Object.fromEntries(Object.entries(message).filter(([field]) => !THOUGHTS.includes(field)))
  })
  if (isNamed) draft.dropped.push('reasoning')
}

function fitRoles(draft: Draft): void {
  const before = draft.get('messages')
  if (!Array.isArray(before) || !before.every(isObject)) return
  const after = withAlternateRoles(before)
  if (after !== before) draft.set('messages', after)
}

/** For offers without the responses format: tools are worth more than reasoning. */
function withoutReasoning(what: 'tools' | 'translated', draft: Draft): void {
  const tools = draft.get('tools')
  const isChat = Array.isArray(draft.get('messages'))
  if (what !== 'tools' || !isChat || !Array.isArray(tools) || tools.length === 0) return
  if (effortOf(draft) === 'none') return
  if (effortOf(draft) !== undefined) draft.dropped.push('reasoning_effort')
  draft.set('reasoning_effort', 'none')
}

function fitFormat(draft: Draft): void {
  const format = asObject(draft.get('response_format'))
  const messages = draft.get('messages')
  if (format['type'] !== 'json_schema' || !Array.isArray(messages)) return
  const { schema } = asObject(format['json_schema'])
  const content = `Answer with JSON alone, an object that fits this JSON schema:\n${JSON.stringify(schema ?? {})}`
  draft.set('response_format', { type: 'json_object' })
  draft.set('messages', [{ role: 'system', content }, ...(messages as unknown[])])
  draft.dropped.push('response_format.json_schema')
}

/** For a schema that is a list or a choice of words. JSON mode cannot stand for it: it makes objects only. */
function fitRoot(draft: Draft): void {
  const chat = asObject(draft.get('response_format'))
  const text = asObject(draft.get('text'))
  const responses = asObject(text['format'])
  const format = chat['type'] === 'json_schema' ? asObject(chat['json_schema']) : responses
  const { schema } = format
  if ((format === responses && responses['type'] !== 'json_schema') || asObject(schema)['type'] === 'object') return
  const content = `Answer with JSON alone, which fits this JSON schema:\n${JSON.stringify(schema ?? {})}`
  const said = format === responses ? 'input' : 'messages'
  const before = draft.get(said)
  const items: unknown[] = Array.isArray(before) ? (before as unknown[]) : [{ role: 'user', content: before }]
  draft.set(said, [{ role: 'system', content }, ...items])
  const { format: _, ...rest } = text
  if (format === responses) draft.set('text', Object.keys(rest).length === 0 ? undefined : rest)
  else draft.set('response_format', undefined)
  draft.dropped.push(format === responses ? 'text.format' : 'response_format.json_schema')
}

/** Whether a vendor takes something of a model that few vendors take. */
export const isTaken = (
  what: 'custom_tools' | 'agent_items' | 'cache_key' | 'call_signatures',
  those: readonly Rule[] = [],
): boolean => those.some(({ takes }) => takes === what)

/** Whether a request belongs to the responses format of a vendor that has both. */
export const isForResponses = (
  those: readonly Rule[],
  { hasTools, isTranslated }: { readonly hasTools: boolean; readonly isTranslated: boolean },
): boolean => those.some((rule) => rule.takes === 'elsewhere' && (rule.what === 'tools' ? hasTools : isTranslated))
