/** Writes the conversation of a neutral turn as `contents` and `systemInstruction`. */
import type { InputPart, MediaSource, Message, OutputPart, TextPart } from '../../domain/turn.ts'
import { isRawNumber, parseExact } from '../../lib/json/exact-json.ts'
import { asFields, fieldsIn } from '../core/fields.ts'
import type { GeminiFamily } from '../../vendors/gemini-families.ts'
import { imageTypeOf } from './media.ts'
import { SKIP_VALIDATOR } from './signature.ts'

type Content = { readonly role: 'user' | 'model'; readonly parts: object[] }

export type WrittenContents = { readonly contents: readonly Content[]; readonly systemInstruction: object | undefined }

export type ContentOptions = {
  readonly family: GeminiFamily
  /** Vertex refuses the ids of calls (2026-11). */
  readonly callIds: 'sent' | 'refused'
}

const textPart = (text: string): object => ({ text })
/** The API refuses empty texts (2026-11). */
const isSaid = (part: InputPart): boolean => part.kind !== 'text' || part.text.trim() !== ''
const textParts = (parts: readonly TextPart[]): object[] => parts.filter(isSaid).map(({ text }) => textPart(text))

/** Writes messages. Neighbours of one role become one content, so that all results of a turn stand together. */
export function writeContents(messages: readonly Message[], options: ContentOptions): WrittenContents {
  const spoken = messages.findIndex(({ role }) => role !== 'system')
  const leading = messages.slice(0, spoken === -1 ? messages.length : spoken)
  const system = leading.flatMap((message) => (message.role === 'system' ? textParts(message.parts) : []))
  const hasOwnField = options.family.system === 'own_field' && spoken !== -1
  const contents: Content[] = []
  const add = (role: Content['role'], parts: object[]): void => {
    const last = contents.at(-1)
    if (parts.length === 0) return
    if (last?.role === role) last.parts.push(...parts)
    else contents.push({ role, parts })
  }
  if (!hasOwnField) add('user', system)
  const names = namesOfCalls(messages)
  for (const message of messages.slice(leading.length)) {
    switch (message.role) {
      case 'system': // The API has no system role inside a conversation, so this stays at its place as the user's text.
        add('user', textParts(message.parts))
        break
      case 'user':
        add('user', message.parts.filter(isSaid).map(inputPart))
        break
      case 'tool':
        add('user', resultParts(message, names.get(message.callId) ?? '', options))
        break
      case 'assistant':
        add('model', modelParts(message.parts, options))
        break
    }
  }
  // A call must come after a user's text.
  const [first] = contents
  if (first?.role === 'model' && first.parts.some((part) => 'functionCall' in part)) {
    contents.unshift({ role: 'user', parts: [textPart('Continue.')] })
  }
  if (contents.length === 0) return { contents: [{ role: 'user', parts: system }], systemInstruction: undefined }
  return { contents, systemInstruction: hasOwnField && system.length > 0 ? { parts: system } : undefined }
}

/** The names of functions by the ids of their calls. The API needs the name beside each result. */
export function namesOfCalls(messages: readonly Message[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { parts } of messages) {
    for (const part of parts) if (part.kind === 'tool_call') names.set(part.id, part.name)
  }
  return names
}

function resultParts(
  { callId, parts, isError }: Extract<Message, { role: 'tool' }>,
  name: string,
  { callIds }: ContentOptions,
): object[] {
  const text = parts
    .map((part) => (part.kind === 'text' ? part.text : ''))
    .join('\n')
    .trim()
  const response = { [isError ? 'error' : 'output']: text }
  const id = callIds === 'sent' ? { id: callId } : {}
  const media = parts.filter(({ kind }) => kind !== 'text').map(inputPart)
  return [{ functionResponse: { ...id, name, response } }, ...media]
}

function inputPart(part: InputPart): object {
  if (part.kind === 'text') return textPart(part.text)
  return mediaPart(part.source)
}

function mediaPart(source: MediaSource): object {
  if (source.kind === 'data') return { inlineData: { mimeType: source.mediaType, data: source.base64 } }
  const mimeType = imageTypeOf(source.url)
  return { fileData: { ...(mimeType === undefined ? {} : { mimeType }), fileUri: source.url } }
}

/** What the model said. Only its own thoughts go back to it, and the first call of a turn carries their signature. */
function modelParts(parts: readonly OutputPart[], { family, callIds }: ContentOptions): object[] {
  const written: object[] = []
  let isFirstCall = true
  for (const part of parts) {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        if (part.text.trim() !== '') written.push(textPart(part.text))
        break
      case 'reasoning':
        if (part.sealed?.origin === 'gemini') addThought(written, part.text, part.sealed)
        break
      case 'tool_call': {
        const { id, name, sealed } = part
        const own = sealed?.origin === 'gemini' ? sealed.data : undefined
        const lost = isFirstCall && family.signatures === 'required' ? SKIP_VALIDATOR : undefined
        const signature = own ?? lost
        isFirstCall = false
        const functionCall = { ...(callIds === 'sent' ? { id } : {}), name, args: argumentsOf(part.arguments) }
        written.push({ functionCall, ...(signature === undefined ? {} : { thoughtSignature: signature }) })
        break
      }
    }
  }
  return written
}

function addThought(
  written: object[],
  text: string,
  { data, form }: { data: string; form?: string | undefined },
): void {
  const last = written.at(-1)
  // The signature belongs to the text before it. If there is none, the API itself writes an empty part with it.
  if (form === 'text' && last && 'text' in last && !('thoughtSignature' in last)) {
    written[written.length - 1] = { ...last, thoughtSignature: data }
  } else written.push({ text, ...(form === 'text' ? {} : { thought: true }), thoughtSignature: data })
}

/** Arguments must be an object here. Anything else came from another model and is put into an object. */
function argumentsOf(text: string): object {
  try {
    const value: unknown = parseExact(text.trim() === '' ? '{}' : text)
    return fieldsIn(value) && !isRawNumber(value) ? asFields(value) : { value }
  } catch {
    return { text }
  }
}
