/**
 * What is refused because it would cost more than the model's price says, or because the gateway cannot bound its cost.
 */
import type { Failure } from '../../domain/failure.ts'
import { asFields, asList, type Fields } from '../core/fields.ts'
import { isMediaData } from '../core/media-data.ts'
import type { ToolSplit } from '../core/vendor-tools.ts'

/** Fields that the gateway prices or edits. */
const pricedFields = new Set([
  'model',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'service_tier',
  'modalities',
  'messages',
  'tools',
])
/**
 * Fields by which an answer costs more than its model's price says: several answers or another model instead of one
 * (OpenRouter), searches at the vendor (OpenAI, OpenRouter, xAI, Alibaba, Groq, Cohere; 2026-11). Also fields by which
 * another gateway behind this one would call a different upstream, or none (LiteLLM, 2026-11).
 */
const dearerFields = new Set([
  'models',
  'best_of',
  'route',
  'provider',
  'plugins',
  'preset',
  'fallbacks',
  'api_base',
  'api_key',
  'base_url',
  'mock_response',
  'web_search_options',
  'search_parameters',
  'search_settings',
  'search_options',
  'enable_search',
  'connectors',
])
const plainTiers = new Set<unknown>(['auto', 'default', 'flex', null, undefined])
/** Tools that run at the client. A tool at the vendor has its own price, and what it reads has no bound. */
const clientTools = new Set(['function', 'custom'])

export const isVendorTool = ({ type }: Fields): boolean => typeof type === 'string' && !clientTools.has(type)

export const splitChatTools = (tools: readonly Fields[]): ToolSplit => ({
  own: tools.filter((tool) => !isVendorTool(tool)),
  vendors: tools.filter(isVendorTool).map(({ type }) => String(type)),
})
/** Parts whose text is in the body and is priced by its length. */
const textParts = new Set(['text', 'input_text', 'output_text', 'refusal', 'thinking', 'reasoning'])
/** Parts that hold data, and the field that holds it. */
const payloads = new Map([
  ['file', 'file_data'],
  ['input_audio', 'data'],
])

const refuse = (param: string, message: string): Failure => ({ kind: 'unsupported_parameter', message, param })

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false

/** Checks a body before any of its types are known. */
export function refuseChatFields(body: Fields): Failure | undefined {
  for (const key in body) {
    // Nearly every key. None of them raises the price.
    if (pricedFields.has(key)) continue
    // Some upstreams match keys without regard to case. What they read must be what was priced.
    const folded = key.normalize('NFKC').toLowerCase()
    if (pricedFields.has(folded)) {
      return refuse(key, `Unknown parameter: '${key}'. Did you mean '${folded}'?`)
    }
    if (dearerFields.has(folded) && isSet(body[key])) {
      return refuse(key, `'${key}' is not supported: its cost has no price here.`)
    }
  }
  if (!plainTiers.has(body['service_tier'])) {
    return refuse('service_tier', "'service_tier' must be auto, default or flex: other tiers have no price here.")
  }
  if (asList(body['modalities']).some((one) => one !== 'text')) {
    return refuse('modalities', 'The output must be text: other output has no price here.')
  }
  return vendorTool(body) ?? unboundPart(body)
}

function vendorTool(body: Fields): Failure | undefined {
  // The schema reports a tool that is not a tool at all.
  const tools = asList(body['tools']).map(asFields)
  const { type: chosen } = asFields(body['tool_choice'])
  const at = tools.findIndex((tool) => isVendorTool(tool) && (tools.every(isVendorTool) || tool['type'] === chosen))
  if (at < 0) return undefined
  const type = String(tools[at]?.['type'])
  return refuse(`tools[${at}].type`, `'${type.slice(0, 100)}' has no price here: it runs at the vendor.`)
}

function unboundPart(body: Fields): Failure | undefined {
  for (const [i, message] of asList(body['messages']).entries()) {
    const content = asFields(message)['content']
    if (!Array.isArray(content)) continue
    for (const [j, part] of content.entries()) {
      const obstacle = obstacleIn(asFields(part))
      if (obstacle) return refuse(`messages[${i}].content[${j}].${obstacle.field}`, obstacle.message)
    }
  }
  return undefined
}

function obstacleIn(part: Fields): { readonly field: string; readonly message: string } | undefined {
  const { type } = part
  if (typeof type !== 'string' || textParts.has(type) || type === 'image_url') return undefined
  const payload = payloads.get(type)
  if (payload === undefined) return { field: 'type', message: `'${type.slice(0, 100)}' parts have no price here.` }
  const { [payload]: data, filename: _, format: __, ...others } = asFields(part[type])
  const isInline = typeof data === 'string' && isMediaData(data)
  if (isInline && !Object.values(others).some(isSet)) return undefined
  const message = `The data must be in the request itself: send '${payload}' as base64 or a data: URL.`
  return { field: type, message }
}
