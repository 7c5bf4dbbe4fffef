/** Forms with files (multipart/form-data). A dialect says what a form may have, and the edge reads it. */
import type { Failure } from '../../domain/failure.ts'
import { limit } from '../../lib/primitives/limit.ts'
import { KIB, MIB } from '../../lib/primitives/units.ts'

/** Bounds of any form. They hold for JSON with the same content as far as they apply. */
export const formBounds = {
  bytesMax: limit('formBytesMax', 512 * MIB, 'A larger form is refused.'),
  partsMax: limit('formPartsMax', 32, 'A form with more parts is refused.'),
  headBytesMax: limit('formHeadBytesMax', 8 * KIB, 'A form whose part has a larger head is refused.'),
  fieldBytesMax: limit('formFieldBytesMax', 256 * KIB, 'A form with a larger field is refused.'),
}

/** A field that takes files. */
export type FileField = {
  readonly name: string
  /** The names of the field. A number in the first group is the place of the file in a list. */
  readonly pattern: RegExp
  readonly filesMax: number
  readonly bytesMax: number
  readonly tooMany: Failure
  /** `param` is the name that the client used. */
  readonly tooLarge: (param: string) => Failure
}

/** What a form may have. */
export type FormRules = {
  readonly files: readonly FileField[]
  /** How long the files may take to be read, including the wait for it. */
  readonly readingTimeoutMs: number
  /** Reads JSON with the same content. Left out if only a form is accepted. */
  readonly fromJson?: (body: Readonly<Record<string, unknown>>) => JsonForm | Failure
}

/** A form in JSON. The files are in base64. */
export type JsonForm = {
  readonly fields: Readonly<Record<string, unknown>>
  readonly files: readonly (Pick<FormFile, 'field' | 'param'> & { readonly base64: string })[]
}

/** A file of a form, on disk as long as its request. `param` is its name in the client's words: `image[1]`. */
export type FormFile = {
  /** The name of its `FileField`. */
  readonly field: string
  readonly param: string
  readonly path: string
  readonly bytes: number
}

export type ReceivedForm = {
  readonly fields: Readonly<Record<string, unknown>>
  /** By field, and in the client's order. */
  readonly files: readonly FormFile[]
}
