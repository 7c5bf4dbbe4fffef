/** A response of Gemini's API from the responses of its stream. */
import type { SseEvent } from '../../lib/http/sse.ts'
import { asFields, asList, asText, numberIn, parseExactFields, type Fields } from '../core/fields.ts'
import type { ReplyCollector } from '../core/contract.ts'
import { gather } from '../core/gather.ts'

type Members = { [name: string]: unknown }
type Candidate = { readonly fields: Members; readonly parts: Fields[] }

export class GeminiCollector implements ReplyCollector {
  private readonly head: Members = {}
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
    // A blocked prompt has no candidates.
    return JSON.stringify({ ...(candidates.length > 0 && { candidates }), ...this.head })
  }

  private addCandidate(candidate: Fields): void {
    const index = numberIn(candidate['index']) ?? 0
    const { fields, parts } = this.candidates.get(index) ?? { fields: {}, parts: [] }
    for (const part of asList(asFields(candidate['content'])['parts']).map(asFields)) addPart(parts, part)
    const logprobsResult = longerLogprobs(asFields(fields['logprobsResult']), candidate['logprobsResult'])
    gather(fields, { ...candidate, ...(logprobsResult && { logprobsResult }) })
    this.candidates.set(index, { fields, parts })
  }
}

/** Each response of a stream has the log probabilities of its own tokens. */
function longerLogprobs(before: Fields, piece: unknown): Fields | undefined {
  if (typeof piece !== 'object' || piece === null) return undefined
  const { chosenCandidates, topCandidates, logProbabilitySum, ...rest } = piece as Fields
  const sum = numberIn(logProbabilitySum)
  return {
    ...rest,
    chosenCandidates: longerList(before['chosenCandidates'], chosenCandidates),
    topCandidates: longerList(before['topCandidates'], topCandidates),
    logProbabilitySum: sum === undefined ? logProbabilitySum : (numberIn(before['logProbabilitySum']) ?? 0) + sum,
  }
}

/** The list grows in place. A copy for every event would take longer with each. */
function longerList(before: unknown, piece: unknown): unknown {
  if (!Array.isArray(before) || !Array.isArray(piece)) return piece ?? before
  for (const one of piece as unknown[]) before.push(one)
  return before
}

/** Text continues the part before it, unless that part is signed: a signature stands at the end of what it signs. */
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
