/** Whole replies of the chat format: read for their usage, passed on byte for byte but for the spec's own fields. */
import { sameUsage, type Usage } from '../../domain/usage.ts'
import type { AnswerFacts, ReadReply } from '../format.ts'
import { reviseJson, unbounded, type Edit, type ScanLimits } from '../../lib/json-scan.ts'
import type { Produced } from '../produced.ts'
import { readUpstreamError } from './failure.ts'
import { wordsOfMessage } from './produced.ts'
import { correctedUsage, readChatUsage, writeChatUsage, type UsageDialect } from './usage.ts'

/** An upstream is trusted further than a client, not blindly. */
const replyLimits: ScanLimits = { depthMax: 128, nodesMax: 2_000_000, commasMax: 4_000_000, ...unbounded }

type Choice = { readonly message: Readonly<Record<string, unknown>> }

const garbage = (message: string): ReadReply => ({ kind: 'failed', failure: { kind: 'garbage', status: 200, message } })

/** Only put together when it is asked for: nearly every reply reports its usage. */
class WordsOfChoices implements Produced {
  readonly moreChars = 0
  private readonly choices: readonly Choice[]

  constructor(choices: readonly Choice[]) {
    this.choices = choices
  }

  get text(): string {
    return this.choices.map(({ message }) => wordsOfMessage(message)).join('\n')
  }
}

/** Reads a 200 reply. What is not a chat completion is a failure of the upstream, whatever its status said. */
export function readChatReply(text: string, dialect: UsageDialect): ReadReply {
  let parsed: { model?: unknown; choices?: unknown; usage?: unknown; error?: unknown }
  try {
    parsed = JSON.parse(text) as typeof parsed
  } catch {
    return garbage('the reply is not JSON')
  }
  if (typeof parsed !== 'object' || parsed === null) return garbage('the reply is not a JSON object')
  if (parsed.error) return { kind: 'failed', failure: readUpstreamError(undefined, parsed) }
  const choices = parsed.choices
  if (!Array.isArray(choices) || choices.length === 0) return garbage('the reply has no choices')
  const isChoice = (choice: Choice | null): boolean => typeof choice?.message === 'object' && choice.message !== null
  if (!choices.every(isChoice)) {
    return garbage('a choice has no message')
  }
  const usage = readChatUsage(parsed.usage, dialect)
  const write = ({ publicModel }: AnswerFacts, billed: Usage): string => {
    const edits: Edit[] = []
    if (parsed.model !== publicModel) edits.push({ key: 'model', value: JSON.stringify(publicModel) })
    const stands = usage !== undefined && sameUsage(usage, billed)
    const fixed = stands ? correctedUsage(parsed.usage, usage) : writeChatUsage(billed)
    if (fixed !== undefined) edits.push({ key: 'usage', value: fixed })
    return edits.length === 0 ? text : reviseJson(text, edits, replyLimits)
  }
  return {
    kind: 'reply',
    reply: {
      usage,
      produced: new WordsOfChoices(choices as Choice[]),
      write,
    },
  }
}
