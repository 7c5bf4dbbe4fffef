/** A request of Gemini's API as a neutral turn, for upstreams of another dialect. */
import type {
  Effort,
  FilePart,
  InputPart,
  Message,
  OutputFormat,
  OutputPart,
  ReasoningPart,
  Tool,
  ToolChoice,
  Turn,
} from '../../domain/turn.ts'
import { asFields, asList, asText, numberIn, type Fields } from '../core/fields.ts'
import type { TurnRead } from '../core/translated.ts'
import { imageTypeOf, standardBase64 } from './media.ts'
import type { GeminiBody, GeminiContent, GeminiPart } from './request.ts'
import { schemaFromOpenApi } from './schema.ts'
import { readSignature } from './signature.ts'
import { namesOf } from '../core/vendor-tools.ts'
import { splitGeminiTools } from './vendor-tools.ts'

/** Fields that a turn carries, and fields that mean nothing to an upstream. Any other field is unsupported. */
const known = new Set(
  'model contents systemInstruction tools toolConfig generationConfig serviceTier labels store'.split(' '),
)
const knownConfig = new Set(
  `maxOutputTokens candidateCount temperature topP topK stopSequences seed frequencyPenalty presencePenalty responseMimeType responseSchema responseJsonSchema thinkingConfig responseLogprobs logprobs responseModalities`.split(
    ' ',
  ),
)

export function geminiTurn(body: GeminiBody): TurnRead {
  const config: NonNullable<GeminiBody['generationConfig']> = body.generationConfig ?? {}
  const fields: Fields = config
  const { thinkingConfig: thinking } = config
  const turn: Turn = {
    messages: [...systemOf(body.systemInstruction), ...enumOf(config), ...new Conversation().read(body.contents)],
    tools: (body.tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations ?? []).map(toolOf),
    toolChoice: toolChoiceOf(body.toolConfig?.functionCallingConfig),
    format: formatOf(config),
    effort: effortOf(thinking?.thinkingLevel, thinking?.thinkingBudget),
    // -1 leaves the budget to the model.
    thinkingTokens: (thinking?.thinkingBudget ?? -1) > 0 ? (thinking?.thinkingBudget ?? undefined) : undefined,
    showReasoning: thinking?.includeThoughts ?? false,
    temperature: config.temperature ?? undefined,
    topP: config.topP ?? undefined,
    topK: config.topK ?? undefined,
    stop: config.stopSequences ?? undefined,
    seed: config.seed ?? undefined,
    frequencyPenalty: config.frequencyPenalty ?? undefined,
    presencePenalty: config.presencePenalty ?? undefined,
    choices: config.candidateCount ?? 1,
    logprobs: fields['responseLogprobs'] === true ? (numberIn(fields['logprobs']) ?? 0) : undefined,
    foreign: [
      ...unknownOf(body, known),
      ...unknownOf(config, knownConfig),
      ...namesOf(splitGeminiTools(body.tools ?? [])),
      ...(config.responseMimeType === ENUM ? ['responseMimeType'] : []),
    ],
  }
  return { kind: 'turn', turn }
}

const unknownOf = (fields: Fields, names: ReadonlySet<string>): string[] =>
  Object.keys(fields).filter((name) => !names.has(name) && (fields[name] ?? null) !== null)

const efforts: ReadonlySet<string> = new Set<Effort>(['minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

function effortOf(level: string | null | undefined, budget: number | null | undefined): Effort | undefined {
  if (budget === 0) return 'none'
  const effort = level?.toLowerCase() ?? ''
  return efforts.has(effort) ? (effort as Effort) : undefined
}

function systemOf(instruction: GeminiBody['systemInstruction']): Message[] {
  if (!instruction) return []
  const texts =
    typeof instruction === 'string' ? [instruction] : (instruction.parts ?? []).map(({ text }) => text ?? '')
  const parts = texts.filter((text) => text !== '').map((text) => ({ kind: 'text', text }) as const)
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

type OpenCall = { readonly id: string; readonly name: string }

/** Matches results to calls by id if there is one, otherwise by name and order. */
class Conversation {
  /** `open`: calls that can be answered now. `earlier`: calls that were not answered in time. */
  private readonly open: OpenCall[] = []
  private readonly earlier: OpenCall[] = []
  private isCalling = false
  private minted = 0

  read(contents: readonly GeminiContent[]): Message[] {
    return contents.flatMap(({ role, parts }) => (role === 'model' ? this.model(parts ?? []) : this.user(parts ?? [])))
  }

  private model(parts: readonly GeminiPart[]): Message[] {
    if (!this.isCalling) this.earlier.push(...this.open.splice(0))
    this.isCalling = true
    const made: OutputPart[] = []
    for (const part of parts) {
      if (part.functionCall) made.push(this.call(part))
      else if (part.thought === true) addThought(made, part)
      else {
        if (part.text) made.push({ kind: 'text', text: part.text })
        // An empty text of the model is kept for its signature.
        if (part.thoughtSignature) {
          made.push({ kind: 'reasoning', text: '', sealed: readSignature(part.thoughtSignature, 'text') })
        }
      }
    }
    return made.length === 0 ? [] : [{ role: 'assistant', parts: made }]
  }

  private call({ functionCall, thoughtSignature }: GeminiPart): OutputPart {
    const name = functionCall?.name ?? ''
    const id = functionCall?.id || `call_${this.minted++}`
    this.open.push({ id, name })
    return {
      kind: 'tool_call',
      id,
      name,
      arguments: JSON.stringify(functionCall?.args ?? {}),
      tool: 'function',
      sealed: thoughtSignature ? readSignature(thoughtSignature) : undefined,
    }
  }

  private user(parts: readonly GeminiPart[]): Message[] {
    this.isCalling = false
    const results: Message[] = []
    const said: InputPart[] = []
    for (const part of parts) {
      if (part.functionResponse) results.push(this.result(part.functionResponse))
      else said.push(...inputOf(part))
    }
    return said.length === 0 ? results : [...results, { role: 'user', parts: said }]
  }

  private result({ id, name, response, parts }: NonNullable<GeminiPart['functionResponse']>): Message {
    const isIts = (call: OpenCall): boolean => (id ? call.id === id : call.name === name)
    const call = taken(this.open, isIts) ?? taken(this.earlier, isIts)
    const fields = asFields(response)
    const isError = Object.hasOwn(fields, 'error') && !Object.hasOwn(fields, 'output')
    const media = (parts ?? []).flatMap(inputOf)
    const text = { kind: 'text', text: wordsOfResult(fields) } as const
    return { role: 'tool', callId: call?.id ?? id ?? name, parts: [text, ...media], ...(isError ? { isError } : {}) }
  }
}

function taken(calls: OpenCall[], isIts: (call: OpenCall) => boolean): OpenCall | undefined {
  const at = calls.findIndex(isIts)
  return at === -1 ? undefined : calls.splice(at, 1)[0]
}

/** Adds a thought, and the signature that may follow it alone. */
function addThought(made: OutputPart[], { text, thoughtSignature }: GeminiPart): void {
  const sealed = thoughtSignature ? readSignature(thoughtSignature) : undefined
  const last = made.at(-1)
  if (!text && sealed && last?.kind === 'reasoning' && !last.sealed) {
    made[made.length - 1] = { ...last, sealed } satisfies ReasoningPart
  } else if (text || sealed) made.push({ kind: 'reasoning', text: text ?? '', sealed })
}

/** `output` and `error` are Google's own names for a function's result. Anything else is the result itself. */
function wordsOfResult(response: Fields): string {
  const names = Object.keys(response)
  const [only = ''] = names
  const value = names.length === 1 && (only === 'output' || only === 'error') ? response[only] : response
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function inputOf({ text, inlineData, fileData }: Pick<GeminiPart, 'text' | 'inlineData' | 'fileData'>): InputPart[] {
  if (inlineData) {
    const { mimeType: mediaType, data } = inlineData
    const source = { kind: 'data', mediaType, base64: standardBase64(data) } as const
    if (mediaType.startsWith('image/')) return [{ kind: 'image', source }]
    if (mediaType.startsWith('audio/')) return [{ kind: 'audio', source }]
    return [fileOf(source, asText(asFields(inlineData)['displayName']))]
  }
  if (fileData) {
    const { fileUri: url, mimeType } = fileData
    const source = { kind: 'url', url } as const
    const type = mimeType ?? imageTypeOf(url) ?? ''
    return [type.startsWith('image/') ? { kind: 'image', source } : { kind: 'file', source }]
  }
  return text ? [{ kind: 'text', text }] : []
}

const fileOf = (source: FilePart['source'], name: string): FilePart =>
  name === '' ? { kind: 'file', source } : { kind: 'file', source, name }

type Declaration = NonNullable<NonNullable<GeminiBody['tools']>[number]['functionDeclarations']>[number]

const toolOf = ({ name, description, parameters, parametersJsonSchema }: Declaration): Tool => ({
  kind: 'function',
  name,
  description: description ?? undefined,
  parameters: parametersJsonSchema ?? (parameters ? schemaFromOpenApi(parameters) : undefined),
})

type CallingConfig = NonNullable<NonNullable<GeminiBody['toolConfig']>['functionCallingConfig']>

function toolChoiceOf(config: CallingConfig | null | undefined): ToolChoice | undefined {
  const mode = config?.mode?.toUpperCase()
  const names = config?.allowedFunctionNames ?? []
  if (mode === 'NONE') return { kind: 'none' }
  if (mode !== 'ANY' && mode !== 'VALIDATED') return mode === 'AUTO' ? { kind: 'auto' } : undefined
  const [only] = names
  if (mode === 'ANY' && only !== undefined && names.length === 1) return { kind: 'tool', name: only }
  if (names.length > 0) return { kind: 'allowed', mode: mode === 'ANY' ? 'required' : 'auto', names }
  return { kind: mode === 'ANY' ? 'required' : 'auto' }
}

/** An answer that is one word of a list, not JSON. No other dialect has a field for it. */
const ENUM = 'text/x.enum'

function enumOf({ responseMimeType: type, responseSchema, responseJsonSchema }: Config): Message[] {
  const words = asList(asFields(responseJsonSchema ?? responseSchema)['enum'])
  if (type !== ENUM || words.length === 0) return []
  const text = `Answer with exactly one of these, and nothing else: ${words.map(asText).join(', ')}`
  return [{ role: 'system', parts: [{ kind: 'text', text }] }]
}

type Config = NonNullable<GeminiBody['generationConfig']>

function formatOf(config: Config): OutputFormat | undefined {
  const { responseMimeType: type, responseJsonSchema: json, responseSchema: open } = config
  if (type === ENUM) return undefined
  const schema = json ?? (open ? schemaFromOpenApi(open) : undefined)
  if (schema) return { kind: 'json_schema', name: 'answer', schema }
  return type === 'application/json' ? { kind: 'json_object' } : undefined
}
