import { z } from 'zod'

/** The keywords of JSON Schema (draft 7 to 2020-12) that the generator understands. It ignores all others. */
export type Schema = {
  type?: string | string[] | undefined
  const?: unknown
  enum?: unknown[] | undefined
  $ref?: string | undefined
  $defs?: Record<string, AnySchema> | undefined
  definitions?: Record<string, AnySchema> | undefined
  allOf?: AnySchema[] | undefined
  anyOf?: AnySchema[] | undefined
  oneOf?: AnySchema[] | undefined
  properties?: Record<string, AnySchema> | undefined
  required?: string[] | undefined
  additionalProperties?: AnySchema | undefined
  propertyNames?: AnySchema | undefined
  minProperties?: number | undefined
  items?: AnySchema | AnySchema[] | undefined
  prefixItems?: AnySchema[] | undefined
  minItems?: number | undefined
  maxItems?: number | undefined
  uniqueItems?: boolean | undefined
  minLength?: number | undefined
  maxLength?: number | undefined
  pattern?: string | undefined
  format?: string | undefined
  minimum?: number | undefined
  maximum?: number | undefined
  exclusiveMinimum?: number | undefined
  exclusiveMaximum?: number | undefined
  multipleOf?: number | undefined
}

export type AnySchema = Schema | boolean

const anySchema: z.ZodType<AnySchema> = z.lazy(() => z.union([z.boolean(), jsonSchema]))
const schemas = z.array(anySchema).optional()
const schemaMap = z.record(z.string(), anySchema).optional()
const size = z.number().int().min(0).optional()
const number = z.number().optional()

/** Refuses values that are no schema, as vendors do, so that the generator can rely on its input. */
export const jsonSchema: z.ZodType<Schema> = z.object({
  type: z.union([z.string(), z.array(z.string()).min(1)]).optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).min(1).optional(),
  $ref: z.string().optional(),
  $defs: schemaMap,
  definitions: schemaMap,
  allOf: schemas,
  anyOf: z.array(anySchema).min(1).optional(),
  oneOf: z.array(anySchema).min(1).optional(),
  properties: schemaMap,
  required: z.array(z.string()).optional(),
  additionalProperties: anySchema.optional(),
  propertyNames: anySchema.optional(),
  minProperties: size,
  items: z.union([anySchema, z.array(anySchema)]).optional(),
  prefixItems: schemas,
  minItems: size,
  maxItems: size,
  uniqueItems: z.boolean().optional(),
  minLength: size,
  maxLength: size,
  pattern: z.string().optional(),
  format: z.string().optional(),
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: z.number().positive().optional(),
})
