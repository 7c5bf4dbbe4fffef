/** Parts of an answer between the neutral turn and Gemini's API. Whole replies and streams share this code. */
import type { OutputPart, SealedData } from '../../domain/turn.ts'
import { randomId } from '../../lib/primitives/ids.ts'
import { asFields, asList, asText, parseExactFields, type Fields } from '../core/fields.ts'
import { readSignature, writeSignature } from './signature.ts'

/** The parts of one candidate. A call without an id gets one, because every other dialect needs it. */
export function readParts(candidate: Fields): OutputPart[] {
  return asList(asFields(candidate['content'])['parts']).flatMap((part) => readPart(asFields(part)))
}

function readPart({ text, thought, thoughtSignature, functionCall }: Fields): OutputPart[] {
  const signature = asText(thoughtSignature)
  const words = asText(text)
  if (typeof functionCall === 'object' && functionCall !== null) {
    const { id, name, args } = asFields(functionCall)
    return [
      {
        kind: 'tool_call',
        id: asText(id) || randomId('call_'),
        name: asText(name),
        arguments: typeof args === 'string' && parseExactFields(args) ? args : JSON.stringify(args ?? {}),
        tool: 'function',
        sealed: signature === '' ? undefined : readSignature(signature),
      },
    ]
  }
  if (thought === true) {
    if (words === '' && signature === '') return []
    return [{ kind: 'reasoning', text: words, sealed: signature === '' ? undefined : readSignature(signature) }]
  }
  const parts: OutputPart[] = words === '' ? [] : [{ kind: 'text', text: words }]
  // An empty part may carry only a signature.
  if (signature !== '') parts.push({ kind: 'reasoning', text: '', sealed: readSignature(signature, 'text') })
  return parts
}

/** A signature in a part of its own, on a thought or on text as it came. */
export const sealedPart = (sealed: SealedData): object => ({
  text: '',
  ...(sealed.form === 'text' ? {} : { thought: true }),
  thoughtSignature: writeSignature(sealed),
})

/**
 * The part of a call. Undefined if its arguments broke off, because a function must not be called with half of them.
 */
export function callPart(call: Extract<OutputPart, { kind: 'tool_call' }>): object | undefined {
  const { id, name, tool, sealed, arguments: words } = call
  const args = tool === 'custom' ? { input: words } : words.trim() === '' ? {} : parseExactFields(words)
  if (!args) return undefined
  return { functionCall: { id, name, args }, ...(sealed ? { thoughtSignature: writeSignature(sealed) } : {}) }
}

export function writePart(part: OutputPart): object | undefined {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { text: part.text }
    case 'reasoning':
      if (part.text === '') return part.sealed && sealedPart(part.sealed)
      return {
        text: part.text,
        thought: true,
        ...(part.sealed ? { thoughtSignature: writeSignature(part.sealed) } : {}),
      }
    case 'tool_call':
      return callPart(part)
  }
}
