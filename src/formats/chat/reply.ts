/**
 * Whole replies of the chat format. They are read for their usage and pass byte for byte, except for fields that the
 * specification sets.
 */
import { sameUsage, type Usage } from '../../domain/usage.ts'
import type { AnswerFacts, AdaptedReply, ReadReply } from '../core/contract.ts'
import { parseExact } from '../../lib/json/exact-json.ts'
import type { Edit } from '../../lib/json/json-edit.ts'
import { asFields } from '../core/fields.ts'
import type { GeneratedText } from '../core/generated-text.ts'
import type { BufferedReply } from '../core/buffered-reply.ts'
import type { FittedNames } from '../core/tool-names.ts'
import { hiddenError } from '../core/openai-failure.ts'
import { failureOfEnd, lawfulReply } from './lawful.ts'
import { wordsOfMessage } from './generated-text.ts'
import type { UsageDialect } from '../../vendors/preset.ts'
import { correctedUsage, readChatUsage, statedUsage, writeChatUsage } from '../core/openai-usage.ts'

type Fields = Readonly<Record<string, unknown>>
type Choice = { readonly message: Readonly<Record<string, unknown>> }
type LawfulReply = { readonly reply: Fields; readonly choices: readonly Choice[]; readonly isMended: boolean }

const garbage = (message: string): ReadReply => ({ kind: 'failed', failure: { kind: 'garbage', status: 200, message } })

/** A reply that is passed on. */
class ChatReply implements AdaptedReply, GeneratedText {
  readonly usage: Usage | undefined
  readonly moreChars = 0
  private readonly received: BufferedReply
  private readonly reply: Fields
  private readonly choices: readonly Choice[]
  private readonly isMended: boolean

  constructor(received: BufferedReply, { reply, choices, isMended }: LawfulReply, dialect: UsageDialect) {
    this.received = received
    this.reply = reply
    this.choices = choices
    this.isMended = isMended
    this.usage = readChatUsage(statedUsage(reply), dialect)
  }

  get produced(): GeneratedText {
    return this
  }

  get bytes(): number {
    return Buffer.byteLength(this.text)
  }

  /** Built only on demand: nearly every reply reports its usage. */
  get text(): string {
    return this.choices.map(({ message }) => wordsOfMessage(message)).join('\n')
  }

  write({ publicModel }: AnswerFacts, billed: Usage): string {
    const { received, reply, usage } = this
    const edits: Edit[] = []
    if (reply['model'] !== publicModel) edits.push({ key: 'model', value: JSON.stringify(publicModel) })
    const stands = usage !== undefined && sameUsage(usage, billed)
    const fixed = stands ? correctedUsage(reply['usage'], usage) : writeChatUsage(billed)
    if (fixed !== undefined) edits.push({ key: 'usage', value: fixed })
    if (this.isMended) edits.push({ key: 'choices', value: JSON.stringify(this.choices) })
    return received.revised(edits)
  }
}

const isChoice = (choice: Partial<Choice> | null): boolean =>
  typeof choice?.message === 'object' && choice.message !== null

/**
 * Reads a reply with status 200. A body that is not a chat completion is an upstream failure in spite of its status.
 */
export function readChatReply(received: BufferedReply, dialect: UsageDialect, names?: FittedNames): ReadReply {
  let parsed: unknown
  try {
    parsed = received.parsed()
  } catch {
    return garbage('the reply is not JSON')
  }
  if (typeof parsed !== 'object' || parsed === null) return garbage('the reply is not a JSON object')
  const reply = parsed as Fields
  const failure = hiddenError(reply) ?? failureOfEnd(reply)
  if (failure) return { kind: 'failed', failure }
  const choices = reply['choices']
  if (!Array.isArray(choices) || choices.length === 0) return garbage('the reply has no choices')
  if (!choices.every(isChoice)) return garbage('a choice has no message')
  const read = lawfulOf(received, reply, names)
  return { kind: 'reply', reply: new ChatReply(received, read, dialect) }
}

/**
 * The reply as the format has it. A value that is written again is parsed exactly, so that its numbers keep their
 * digits.
 */
function lawfulOf(received: BufferedReply, reply: Fields, names: FittedNames | undefined): LawfulReply {
  const isMended = !received.isPart && lawfulReply(reply, names) !== reply
  const lawful = isMended ? lawfulReply(asFields(parseExact(received.text)), names) : reply
  return { reply: lawful, choices: lawful['choices'] as Choice[], isMended }
}
