/** JSON schemas for constrained answers. The vendor enforces a part of the language and gets the rest as text. */
import { asFields, asText, type Fields } from './fields.ts'

/** Rules that are refused (Anthropic, 2026-11). They go into the description, which a model heeds as well. */
const refused = new Set(
  `minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems minProperties maxProperties contains not if then else patternProperties propertyNames dependentRequired dependentSchemas unevaluatedProperties unevaluatedItems`.split(
    ' ',
  ),
)
/** Rules whose value is a schema, a list of schemas, or schemas by name. */
const nested = new Set(['items', 'anyOf', 'allOf', 'prefixItems'])
const named = new Set(['properties', '$defs', 'definitions'])

/** The schema as far as the vendor enforces it. Objects are closed, because the vendor demands that. */
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
