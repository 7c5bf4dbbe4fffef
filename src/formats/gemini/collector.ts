/** A response of Gemini's API from the responses of its stream. */
import type { SseEvent } from '../../lib/sse.ts'
import { asFields, asList, asText, numberIn, parseExactFields, type Fields } from '../fields.ts'
import type { ReplyCollector } from '../format.ts'
import { gather } from '../gather.ts'

type Gathered = { [name: string]: unknown }
type Candidate = { readonly fields: Gathered; readonly parts: Fields[] }

export class GeminiCollector implements ReplyCollector {
  private readonly head: Gathered = {}
  private readonly candidates = new Map<number, Candidate>()

  add({ data }: SseEvent): void {
    const { candidates, ...head } = parseExactFields(data) ?? {}
    gather(this.head, head)
    for (const candidate of asList(candidates).map(asFields)) this.addCandidate(candidate)
  }

  cutAtLength(): void {
    if (this.candidates.size === 0) this.candidates.set(0, { fields: {}, parts: [] })
  }

  text(): string {
    const candidates = [...this.candidates]
      .toSorted(([a], [b]) => a - b)
      .map(([index, { fields, parts }]) => ({
        finishReason: 'MAX_TOKENS',
        ...fields,
        index,
        content: { role: 'model', ...asFields(fields['content']), parts },
      }))
    return JSON.stringify({ candidates, ...this.head })
  }

  private addCandidate(candidate: Fields): void {
    const index = numberIn(candidate['index']) ?? 0
    const { fields, parts } = this.candidates.get(index) ?? { fields: {}, parts: [] }
    for (const part of asList(asFields(candidate['content'])['parts']).map(asFields)) addPart(parts, part)
    gather(fields, candidate)
    this.candidates.set(index, { fields, parts })
  }
}

/** Words go on in the part before them, unless that is signed: a signature stands at the end of what it signs. */
function addPart(parts: Fields[], part: Fields): void {
  const last = parts.at(-1)
  const isAfterWords = last !== undefined && isWords(last) && last['thoughtSignature'] === undefined
  if (isAfterWords && isWords(part) && last['thought'] === part['thought']) {
    parts[parts.length - 1] = { ...last, ...part, text: asText(last['text']) + asText(part['text']) }
  } else if (parts.length === 0 || !isWords(part) || part['text'] !== '' || part['thoughtSignature'] !== undefined) {
    parts.push(part)
  }
}

const PLAIN = new Set(['text', 'thought', 'thoughtSignature'])
const isWords = (part: Fields): boolean =>
  typeof part['text'] === 'string' && Object.keys(part).every((name) => PLAIN.has(name))
