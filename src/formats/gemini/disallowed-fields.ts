/**
 * What is refused because it would cost more than the model's price says, or because the gateway cannot bound its cost.
 */
import type { Failure } from '../../domain/failure.ts'
import { asFields, asList, asText, type Fields } from '../core/fields.ts'
import { refuseStrayHint } from '../core/hint-fields.ts'
import { isBase64 } from '../core/media-data.ts'
import { isImageFile } from './media.ts'
import { refuseGeminiTools } from './vendor-tools.ts'

/** Fields that the gateway prices or edits, in lower case: some servers match keys without regard to case. */
const priced = new Map(
  ['generationConfig', 'maxOutputTokens', 'candidateCount', 'responseModalities', 'imageConfig', 'imageSize'].map(
    (name) => [name.toLowerCase(), name],
  ),
)
const plainTiers = new Set<unknown>(['standard', 'flex', 'unspecified', 'service_tier_unspecified', ''])

const refuse = (param: string, message: string): Failure => ({ kind: 'unsupported_parameter', message, param })

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false

/** Checks a body in camel case, before any of its types are known. */
export function refuseGeminiFields(body: Fields): Failure | undefined {
  const config = asFields(body['generationConfig'])
  return (
    refuseStrayHint(body) ??
    lookAlike(body, '') ??
    lookAlike(config, 'generationConfig.') ??
    lookAlike(asFields(config['imageConfig']), 'generationConfig.imageConfig.') ??
    unboundContext(body) ??
    strayData(body) ??
    dearerOutput(config) ??
    refuseGeminiTools(body)
  )
}

function lookAlike(fields: Fields, path: string): Failure | undefined {
  for (const key of Object.keys(fields)) {
    const folded = key.normalize('NFKC').toLowerCase().replaceAll('_', '')
    if ((priced.get(folded) ?? key) === key) continue
    return refuse(path + key, `Unknown parameter: '${path}${key.slice(0, 100)}'. Check its capital letters.`)
  }
  return undefined
}

function unboundContext(body: Fields): Failure | undefined {
  if (isSet(body['cachedContent'])) {
    return refuse('cachedContent', "'cachedContent' is not supported: caches belong to the vendor's account.")
  }
  const tier = body['serviceTier']
  if (isSet(tier) && !plainTiers.has(asText(tier).toLowerCase())) {
    return refuse('serviceTier', "'serviceTier' must be standard or flex: other tiers have no price here.")
  }
  for (const [i, content] of asList(body['contents']).entries()) {
    for (const [j, part] of asList(asFields(content)['parts']).entries()) {
      const file = asFields(part)['fileData']
      if (!isSet(file) || isImageFile(asFields(file))) continue
      const message = 'Files by address must be images, since the cost of others is not known. Send them as inlineData.'
      return refuse(`contents[${i}].parts[${j}].fileData`, message)
    }
  }
  return undefined
}

/** Data that is not base64 could be an address to an upstream. */
function strayData(body: Fields): Failure | undefined {
  const look = (parts: unknown, path: string): Failure | undefined => {
    for (const [i, part] of asList(parts).entries()) {
      const { inlineData, functionResponse } = asFields(part)
      const data = asFields(inlineData)['data']
      if (typeof data === 'string' && !isBase64(data)) {
        const param = `${path}[${i}].inlineData.data`
        return { kind: 'invalid_value', message: `Invalid '${param}': must be base64.`, param }
      }
      const inner = look(asFields(functionResponse)['parts'], `${path}[${i}].functionResponse.parts`)
      if (inner) return inner
    }
    return undefined
  }
  for (const [i, content] of asList(body['contents']).entries()) {
    const found = look(asFields(content)['parts'], `contents[${i}].parts`)
    if (found) return found
  }
  return look(asFields(body['systemInstruction'])['parts'], 'systemInstruction.parts')
}

/** Whether the model may answer with images is checked later, once the model is known. */
function dearerOutput(config: Fields): Failure | undefined {
  const modalities = asList(config['responseModalities']).map((one) => asText(one).toUpperCase())
  if (modalities.every((one) => one === 'TEXT' || one === 'IMAGE')) return undefined
  return refuse(MODALITIES, 'The output must be text or images: other output has no price here.')
}

export const MODALITIES = 'generationConfig.responseModalities'
