/** Embeddings in Gemini's dialect: `embedContent`, and `batchEmbedContents`, which Google's SDKs use (2026-11). */
import { z } from 'zod'
import type { Failure } from '../../domain/failure.ts'
import { safeParse } from '../../lib/json/safe-parse.ts'
import { failureOfIssue } from '../core/issue.ts'
import { asFields, type Fields } from '../core/fields.ts'
import type { ClientRequest } from '../core/contract.ts'
import { refuseStrayHint } from '../core/hint-fields.ts'
import { readModelPath } from '../core/google-model-path.ts'
import { embeddingInCamelCase, SpeltTwice } from '../core/google-spelling.ts'
import { scanRequest } from '../core/request-json.ts'
import { EmbeddingClient } from './client.ts'
import { INPUTS_MAX } from './request.ts'

const optional = <T extends z.ZodType>(schema: T): z.ZodOptional<z.ZodNullable<T>> => schema.nullable().optional()
const part = z.looseObject({ text: optional(z.string()) })
const one = {
  model: optional(z.string()),
  content: z.looseObject({ parts: z.array(part).min(1) }),
  taskType: optional(z.string()),
  title: optional(z.string()),
  outputDimensionality: optional(z.int().min(1).max(65_536)),
}
export const embedContentSchema = z.looseObject(one)
export const batchEmbedSchema = z.looseObject({ requests: z.array(embedContentSchema).min(1).max(INPUTS_MAX) })

type GeminiRequest = { readonly text: string; readonly path: string }
type ReadClient =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }
type One = z.infer<typeof embedContentSchema>

const refuse = (kind: Failure['kind'], param: string, message: string): ReadClient => ({
  kind: 'rejected',
  failure: { kind, message, param },
})

/** Reads a request for the embedding of one content or of several. */
export function readGeminiEmbeddings({ text, path }: GeminiRequest): ReadClient {
  const scan = scanRequest(text)
  if (scan.kind === 'rejected') return scan
  let fields: Fields
  try {
    fields = embeddingInCamelCase(scan.value)
  } catch (error) {
    if (!(error instanceof SpeltTwice)) throw error
    const message = `The field '${error.message.slice(0, 100)}' is given in two spellings.`
    return { kind: 'rejected', failure: { kind: 'invalid_json', message } }
  }
  const stray = refuseStrayHint(fields)
  if (stray) return { kind: 'rejected', failure: stray }
  const { model = '', action } = readModelPath(path) ?? {}
  if (action === 'embedContent') {
    const checked = safeParse(embedContentSchema, fields)
    if (!checked.success) return { kind: 'rejected', failure: failureOfIssue(checked.error.issues[0], fields) }
    return made(model, [checked.data], 'gemini')
  }
  const checked = safeParse(batchEmbedSchema, fields)
  if (!checked.success) return { kind: 'rejected', failure: failureOfIssue(checked.error.issues[0], fields) }
  return made(model, checked.data.requests, 'gemini_batch')
}

function made(model: string, all: readonly One[], client: 'gemini' | 'gemini_batch'): ReadClient {
  const dimensions = all[0]?.outputDimensionality ?? undefined
  const inputs: string[] = []
  for (const [i, { content, model: named, outputDimensionality }] of all.entries()) {
    const at = client === 'gemini' ? '' : `requests[${i}].`
    if (typeof named === 'string' && named.replace(/^models\//, '') !== model) {
      return refuse('invalid_value', `${at}model`, `Invalid '${at}model': it must be the model in the path.`)
    }
    if ((outputDimensionality ?? undefined) !== dimensions) {
      const param = `${at}outputDimensionality`
      return refuse('unsupported_parameter', param, `'${param}' must be the same for all requests of a batch.`)
    }
    const param = `${at}content.parts`
    if (content.parts.some((said) => typeof said.text !== 'string')) {
      return refuse('unsupported_parameter', param, `'${param}': only texts can be embedded here.`)
    }
    const words = content.parts.map((said) => said.text).join('\n')
    if (words === '') return refuse('invalid_value', param, `Invalid '${param}': there is no text.`)
    inputs.push(words)
  }
  const body = { client, model, inputs, encoding: 'float', dimensions, others: {} } as const
  return {
    kind: 'read',
    request: new EmbeddingClient({ ...body, ofInputs: all.map(purposeOf), foreign: foreignIn(all) }),
  }
}

/** The purpose of a text. It changes the text's vector at Google. */
const purposeOf = ({ taskType, title }: One): Fields => ({
  ...(typeof taskType === 'string' ? { taskType } : {}),
  ...(typeof title === 'string' ? { title } : {}),
})

const foreignIn = (all: readonly One[]): string[] => [
  ...new Set(all.flatMap((each) => Object.keys(asFields(each)).filter((name) => !Object.hasOwn(one, name)))),
]
