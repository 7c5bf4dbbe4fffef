/** Puts the definitions of a JSON schema into their places, for vendors that know no `$ref`. */
import { KIB } from '../../lib/primitives/units.ts'
import { asFields, fieldsIn, textIn, type Fields } from './fields.ts'
import { mapSchema } from './schema-map.ts'

const LOCAL = /^#\/(?:\$defs|definitions)\/([^/]+)$/
/** A schema that refers to itself ends here. */
const DEPTH_MAX = 8
/** How much the definitions in their places may add up to in one request. References beyond it become any value. */
const ADDED_CHARS_MAX = 256 * KIB

/** What the schemas of one request may still grow by. */
export type SchemaRoom = { chars: number }
export const newSchemaRoom = (): SchemaRoom => ({ chars: ADDED_CHARS_MAX })

/** The schema without definitions and references to them. A reference that leads nowhere becomes any value. */
export function withoutReferences(schema: Fields, room: SchemaRoom): Fields {
  const definitions: Fields = { ...asFields(schema['definitions']), ...asFields(schema['$defs']) }
  const names = Object.keys(definitions)
  if (names.length === 0) return schema
  const chars = new Map(names.map((name) => [name, JSON.stringify(definitions[name]).length]))
  const resolved = (own: Fields, depth: number): Fields => {
    const { $ref, $defs: _, definitions: __, ...rest } = own
    const [, name] = LOCAL.exec(textIn($ref) ?? '') ?? []
    if (name === undefined) return '$defs' in own || 'definitions' in own ? rest : own
    const found = Object.hasOwn(definitions, name) ? fieldsIn(definitions[name]) : undefined
    room.chars -= chars.get(name) ?? 0
    return found && depth < DEPTH_MAX && room.chars >= 0 ? { ...inlined(found, depth + 1), ...rest } : rest
  }
  const inlined = (one: Fields, depth: number): Fields => asFields(mapSchema(one, (own) => resolved(own, depth)))
  return inlined(schema, 0)
}
