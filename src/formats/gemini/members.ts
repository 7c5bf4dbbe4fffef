/**
 * Reads members of a request as its client wrote them: in two spellings, and with a single element in place of a list.
 */
import { asFields, asList, fieldsIn, type Fields } from '../core/fields.ts'
import { camelOf } from '../core/google-spelling.ts'

export const isFields = (value: unknown): value is Fields => fieldsIn(value) !== undefined

/** A list may come as its only element. */
export const listedItems = (value: unknown): readonly unknown[] => (isFields(value) ? [value] : asList(value))

/** A member in either spelling. */
export const memberOf = (fields: Fields, name: string): unknown =>
  fields[Object.keys(fields).find((key) => camelOf(key) === name) ?? name]

export const mapMember = (fields: Fields, name: string, change: (value: unknown) => unknown): Fields =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, camelOf(key) === name ? change(value) : value]))

export const partsOf = (content: unknown): readonly unknown[] => listedItems(memberOf(asFields(content), 'parts'))
