/** Parts of items in the responses format as parts of a neutral turn. */
import { sourceOf } from '../core/media-source.ts'
import type { FilePart, InputPart, Message, TextPart } from '../../domain/turn.ts'
import { asFields, asList, asText, textIn, type Fields } from '../core/fields.ts'
import { isAgentOutput, readAgentOutput } from './agent-tools.ts'
import { COMPACTION_ORDER, compactionIn, isCompaction } from './compaction.ts'
import { BadInput } from './items.ts'
import type { CallNames } from './call-names.ts'
import { isResult } from './item-kinds.ts'

type Surroundings = { readonly names: CallNames; readonly callIds: ReadonlyMap<unknown, string> }

/** Undefined for an item that no other dialect can express. */
export function otherMessage(item: Fields, { names, callIds }: Surroundings): Message | undefined {
  const { type, role, content, output } = item
  if (type === 'message') {
    const parts = asList(content).map((part) => partOf(asFields(part)))
    return role === 'user' ? { role, parts } : { role: 'system', parts: parts.map(textOnly) }
  }
  if (type === 'compaction_trigger') return { role: 'user', parts: [{ kind: 'text', text: COMPACTION_ORDER }] }
  if (isCompaction(type)) return compactionIn(item)
  if (type === 'agent_message') return fromAgent(item)
  if (isAgentOutput(type)) {
    const callId = textIn(item['call_id']) ?? callIds.get(item['id']) ?? ''
    const text = readAgentOutput(item, names)
    return callId === '' ? undefined : { role: 'tool', callId, parts: [{ kind: 'text', text }] }
  }
  if (!isResult(type)) return undefined
  const parts: InputPart[] =
    typeof output === 'string'
      ? [{ kind: 'text', text: output }]
      : asList(output).flatMap((part) => resultPart(asFields(part)))
  return { role: 'tool', callId: asText(item['call_id']), parts }
}

/**
 * A message from another agent of the client. Codex lets its models work in teams. Text that a tool takes sealed is in
 * a part of its own, as the model wrote it. Only OpenAI's models seal it (0.169, captured 2026-11-25).
 */
function fromAgent({ author, content }: Fields): Message | undefined {
  const words = asList(content).flatMap((part) => wordsIn(asFields(part)))
  if (words.length === 0) return undefined
  const from = textIn(author)
  const text = [...(from === undefined ? [] : [`Message from ${from}:`]), ...words].join('\n')
  return { role: 'user', parts: [{ kind: 'text', text }] }
}

function wordsIn({ text, encrypted_content: sealed }: Fields): string[] {
  const words = textIn(text) ?? textIn(sealed)
  return words === undefined || SEALED_BY_OPENAI.test(words) ? [] : [words]
}

/** A part of a result. A part of an unknown kind becomes the text in it, if any. */
function resultPart(part: Fields): InputPart[] {
  if (inputTypes.has(part['type'])) return [partOf(part)]
  return wordsIn(part).map((text) => ({ kind: 'text', text }))
}

const inputTypes = new Set<unknown>(['input_text', 'input_image', 'input_file', 'input_audio'])

const SEALED_BY_OPENAI = /^gAAAA[\w-]{40}/

function textOnly(part: InputPart): TextPart {
  if (part.kind === 'text') return part
  throw new BadInput('unsupported_parameter', 'input', `A system message takes text only, not ${part.kind}.`)
}

function partOf(part: Fields): InputPart {
  switch (part['type']) {
    case 'input_image': {
      const detail = textIn(part['detail'])
      return {
        kind: 'image',
        source: sourceOf(asText(part['image_url'])),
        detail: detail === 'auto' ? undefined : detail,
      }
    }
    case 'input_file':
      return fileOf(part)
    case 'input_audio': {
      const { data, format } = asFields(part['input_audio'])
      const mediaType = format === 'mp3' ? 'audio/mpeg' : `audio/${asText(format) || 'wav'}`
      return { kind: 'audio', source: { kind: 'data', mediaType, base64: asText(data) } }
    }
    default:
      return { kind: 'text', text: asText(part['text']) }
  }
}

function fileOf(part: Fields): FilePart {
  const data = asText(part['file_data'])
  const source = sourceOf(data.startsWith('data:') ? data : `data:application/pdf;base64,${data}`)
  return { kind: 'file', source, name: textIn(part['filename']) }
}
