/** JSON schemas for constrained answers: the vendor takes a part of the language, and is told of the rest in words. */
import { asFields, asText, type Fields } from '../core/fields.ts'

/** Rules that are refused (Anthropic, 2026-11). They are told in the description: a model heeds words as well. */
const refused = new Set(
  `minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems minProperties maxProperties contains not if then else patternProperties propertyNames dependentRequired dependentSchemas unevaluatedProperties unevaluatedItems`.split(
    ' ',
  ),
)
/** Rules whose value is a schema, a list of schemas, or schemas by name. */
const nested = new Set(['items', 'anyOf', 'allOf', 'prefixItems'])
const named = new Set(['properties', '$defs', 'definitions'])

/** The schema as far as it can be enforced. Objects are closed, which is a condition of the vendor's. */
export function enforceable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(enforceable)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept: Record<string, unknown> = {}
  const told: string[] = []
  for (const [rule, value] of Object.entries(schema as Fields)) {
    if (refused.has(rule)) told.push(`${rule}: ${JSON.stringify(value)}`)
    else if (rule === 'oneOf') kept['anyOf'] = enforceable(value)
    else if (nested.has(rule)) kept[rule] = enforceable(value)
    else if (named.has(rule)) {
      kept[rule] = Object.fromEntries(Object.entries(asFields(value)).map(([name, one]) => [name, enforceable(one)]))
    } else kept[rule] = value
  }
  if (kept['type'] === 'object' || 'properties' in kept) kept['additionalProperties'] = false
  if (told.length > 0) kept['description'] = [asText(kept['description']), `(${told.join(', ')})`].join(' ').trim()
  return kept
}
