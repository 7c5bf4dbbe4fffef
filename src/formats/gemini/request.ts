/**
 * Requests of Gemini's API: validation, what the gateway needs to know of them, and the edits it makes for upstreams.
 */
import { z } from 'zod'
import type { Failure } from '../../domain/failure.ts'
import type { Member, Members } from '../../lib/json/json-members.ts'
import { requestScanLimits, scanJson } from '../../lib/json/json-scan.ts'
import { editJson, type Edit } from '../../lib/json/json-edit.ts'
import { failureOfIssue } from '../core/issue.ts'
import { exactBody } from '../core/exact-body.ts'
import { asFields, asList, type Fields } from '../core/fields.ts'
import { scanRequest, type ScannedRequest } from '../core/request-json.ts'
import { isInline, type RemoteMedium } from '../core/remote-media.ts'
import { isInGooglesStore } from './media.ts'
import { refuseGeminiFields } from './disallowed-fields.ts'
import { camelOf, requestInCamelCase, SpeltTwice } from '../core/google-spelling.ts'
import { safeParse } from '../../lib/json/safe-parse.ts'
import { namesOf, withoutVendorTools } from '../core/vendor-tools.ts'
import { splitGeminiTools } from './vendor-tools.ts'

/** The API's JSON takes null for "not set". */
const optional = <T extends z.ZodType>(schema: T): z.ZodOptional<z.ZodNullable<T>> => schema.nullable().optional()
const object = z.looseObject({})

const media = {
  inlineData: optional(z.looseObject({ mimeType: z.string(), data: z.string() })),
  fileData: optional(z.looseObject({ mimeType: optional(z.string()), fileUri: z.string() })),
}
/** A result may hold images and files. */
const resultPart = z.looseObject({ text: optional(z.string()), ...media })
const part = z.looseObject({
  text: optional(z.string()),
  thought: optional(z.boolean()),
  thoughtSignature: optional(z.string()),
  ...media,
  functionCall: optional(z.looseObject({ id: optional(z.string()), name: z.string().min(1), args: optional(object) })),
  functionResponse: optional(
    z.looseObject({
      id: optional(z.string()),
      name: z.string().min(1),
      response: optional(object),
      parts: optional(z.array(resultPart)),
    }),
  ),
})
const content = z.looseObject({
  role: optional(z.enum(['user', 'model', 'function'])),
  parts: optional(z.array(part)),
})
const generationConfig = z.looseObject({
  maxOutputTokens: optional(z.int().min(1)),
  candidateCount: optional(z.int().min(1)),
  temperature: optional(z.number().min(0).max(2)),
  topP: optional(z.number().min(0).max(1)),
  topK: optional(z.number().min(0)),
  stopSequences: optional(z.array(z.string())),
  seed: optional(z.int()),
  frequencyPenalty: optional(z.number()),
  presencePenalty: optional(z.number()),
  responseMimeType: optional(z.string()),
  responseSchema: optional(object),
  responseJsonSchema: optional(object),
  responseModalities: optional(z.array(z.string())),
  imageConfig: optional(z.looseObject({ aspectRatio: optional(z.string()), imageSize: optional(z.string()) })),
  thinkingConfig: optional(
    z.looseObject({
      includeThoughts: optional(z.boolean()),
      thinkingBudget: optional(z.int()),
      thinkingLevel: optional(z.string()),
    }),
  ),
})
const declaration = z.looseObject({
  name: z.string().min(1),
  description: optional(z.string()),
  parameters: optional(object),
  parametersJsonSchema: optional(object),
})
const callingConfig = z.looseObject({
  mode: optional(z.string()),
  allowedFunctionNames: optional(z.array(z.string())),
})

export const geminiRequestSchema = z.looseObject({
  contents: z.array(content).min(1),
  systemInstruction: optional(z.union([content, z.string()])),
  generationConfig: optional(generationConfig),
  tools: optional(z.array(z.looseObject({ functionDeclarations: optional(z.array(declaration)) }))),
  toolConfig: optional(z.looseObject({ functionCallingConfig: optional(callingConfig) })),
})

export type GeminiBody = z.infer<typeof geminiRequestSchema>
export type GeminiContent = z.infer<typeof content>
export type GeminiPart = z.infer<typeof part>

export type GeminiRequest = {
  readonly model: string
  readonly stream: boolean
  readonly choices: number
  readonly outputTokensMax: number | undefined
  /** The size of the body without media. A tokenizer never makes more tokens than bytes. */
  readonly textBytes: number
  readonly imageParts: number
  /** The decoded bytes of audio and files. They have at most as many tokens. */
  readonly mediaBytes: number
  readonly remoteMedia: readonly RemoteMedium[]
  /** In camel case. */
  readonly body: GeminiBody
  readonly text: string
  readonly members: Members
}

export type GeminiRead =
  | { readonly kind: 'read'; readonly request: GeminiRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

const reject = (kind: Failure['kind'], message: string, param?: string): GeminiRead => ({
  kind: 'rejected',
  failure: { kind, message, ...(param === undefined ? {} : { param }) },
})

type GeminiRequestText = {
  readonly text: string
  readonly bytes: number
  readonly model: string
  readonly stream: boolean
  /** Given if the text was scanned before. */
  readonly scan?: ScannedRequest
}

/** Reads a request's JSON text: structure, syntax, spelling and schema, in this order. A failure names the field. */
export function readGeminiRequest({
  text,
  bytes,
  model,
  stream,
  scan = scanRequest(text),
}: GeminiRequestText): GeminiRead {
  if (scan.kind === 'rejected') return scan
  let fields: Fields
  try {
    fields = requestInCamelCase(scan.value)
  } catch (error) {
    if (!(error instanceof SpeltTwice)) throw error
    return reject('invalid_json', `The field '${error.message.slice(0, 100)}' is given in two spellings.`)
  }
  const unpriced = refuseGeminiFields(fields)
  if (unpriced) return { kind: 'rejected', failure: unpriced }
  const checked = safeParse(geminiRequestSchema, fields)
  if (!checked.success) return { kind: 'rejected', failure: failureOfIssue(checked.error.issues[0], fields) }
  const body = fields as GeminiBody
  const media = mediaOf(body.contents)
  const config = body.generationConfig
  return {
    kind: 'read',
    request: {
      model,
      stream,
      choices: config?.candidateCount ?? 1,
      outputTokensMax: config?.maxOutputTokens ?? undefined,
      textBytes: bytes - media.payloadChars,
      imageParts: media.images,
      mediaBytes: media.bytes,
      remoteMedia: remoteMediaOf(body),
      body,
      text,
      members: scan.members,
    },
  }
}

/** The body with the numbers of arguments, results and schemas exactly as they came. */
export function exactGeminiBody({ body, text }: GeminiRequest): GeminiBody {
  const exact = exactBody(body, text)
  return exact === body ? body : (requestInCamelCase(exact) as GeminiBody)
}

type Media = { images: number; bytes: number; payloadChars: number }

/** Finds the media. They count by a rule of their own, not by the length of their base64. */
function mediaOf(contents: GeminiBody['contents']): Media {
  const media: Media = { images: 0, bytes: 0, payloadChars: 0 }
  for (const { inlineData, fileData } of contents.flatMap(({ parts }) => parts ?? [])) {
    if (fileData) media.images++ // Other files are refused, because their length is unknown.
    if (!inlineData) continue
    media.payloadChars += inlineData.data.length
    if (inlineData.mimeType.startsWith('image/')) media.images++
    else media.bytes += Math.ceil((inlineData.data.length * 3) / 4)
  }
  return media
}

/** Files by address, including those in the results of functions. */
function remoteMediaOf({ contents, systemInstruction }: GeminiBody): RemoteMedium[] {
  const found: RemoteMedium[] = []
  const look = (parts: unknown, path: string): void => {
    for (const [i, part] of asList(parts).entries()) {
      const { fileData, functionResponse } = asFields(part)
      if (functionResponse) look(asFields(functionResponse)['parts'], `${path}[${i}].functionResponse.parts`)
      const url = asFields(fileData)['fileUri']
      if (typeof url !== 'string' || isInline(url) || isInGooglesStore(url)) continue
      found.push({ url, param: `${path}[${i}].fileData.fileUri` })
    }
  }
  for (const [i, { parts }] of contents.entries()) look(parts, `contents[${i}].parts`)
  look(asFields(systemInstruction)['parts'], 'systemInstruction.parts')
  return found
}

/** A member in either spelling. */
function memberOf(members: Members, name: string): [string, Member] | undefined {
  return [...members].find(([key]) => camelOf(key) === name)
}

/** The client's own bytes, except for the output limit, a model's name beside the path's, and tools of the vendor. */
export function writeGeminiBody(
  { body, text, members }: GeminiRequest,
  outputTokensMax: number | undefined,
): { readonly body: string; readonly dropped: readonly string[] } {
  const edits: Edit[] = []
  const dropped = namesOf(splitGeminiTools(body.tools ?? []))
  if (dropped.length > 0) {
    const [key] = memberOf(members, 'tools') ?? ['tools']
    edits.push(...withoutVendorTools({ text, members }, key, splitGeminiTools))
  }
  if (members.has('model')) edits.push({ key: 'model', value: undefined })
  if (outputTokensMax !== undefined && body.generationConfig?.maxOutputTokens !== outputTokensMax) {
    const [key, member] = memberOf(members, 'generationConfig') ?? ['generationConfig']
    edits.push({ key, value: configWith(member && text.slice(member.start, member.end), outputTokensMax) })
  }
  return { body: edits.length === 0 ? text : editJson(text, members, edits), dropped }
}

/** A generationConfig's text with this output limit. */
function configWith(text: string | undefined, outputTokensMax: number): string {
  const scan = text?.startsWith('{') ? scanJson(text, requestScanLimits) : undefined
  if (text === undefined || scan?.kind !== 'scanned') return JSON.stringify({ maxOutputTokens: outputTokensMax })
  const [key] = memberOf(scan.members, 'maxOutputTokens') ?? ['maxOutputTokens']
  return editJson(text, scan.members, [{ key, value: String(outputTokensMax) }])
}
