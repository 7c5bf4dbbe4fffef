/**
 * Whole replies of the Messages format. They are read for their usage and pass byte for byte, except for the model's
 * name.
 */
import { sameUsage, type Usage } from '../../domain/usage.ts'
import { answerLimits } from '../../lib/json/json-scan.ts'
import { reviseJson, type Edit } from '../../lib/json/json-edit.ts'
import { asFields, asText, fieldListIn, parseExactFields, parseFields, type Fields } from '../core/fields.ts'
import type { AnswerFacts, ReadReply } from '../core/contract.ts'
import { readMessagesError } from './failure.ts'
import { isToolUse, lawfulBlocks, stopReasonIn } from './lawful-answer.ts'
import { readMessagesUsage, writeMessagesUsage } from './usage.ts'

const garbage = (message: string): ReadReply => ({ kind: 'failed', failure: { kind: 'garbage', status: 200, message } })

/** Reads a reply with status 200. A body that is not a message is an upstream failure in spite of its status. */
export function readMessagesReply(text: string): ReadReply {
  const parsed = parseFields(text)
  if (!parsed) return garbage('the reply is not a JSON object')
  if (parsed['error']) return { kind: 'failed', failure: readMessagesError(undefined, parsed) }
  const content = fieldListIn(parsed['content'])
  if (!content) return garbage('the reply has no content')
  const usage = readMessagesUsage(parsed['usage'])
  const reason = reasonIn(parsed, content.some(isToolUse))
  const write = ({ publicModel }: AnswerFacts, billed: Usage): string => {
    const edits: Edit[] = []
    if (parsed['model'] !== publicModel) edits.push({ key: 'model', value: JSON.stringify(publicModel) })
    if (!usage || !sameUsage(usage, billed)) {
      const stated = { ...asFields(parsed['usage']), ...writeMessagesUsage(billed) }
      edits.push({ key: 'usage', value: JSON.stringify(stated) })
    }
    if (reason !== parsed['stop_reason']) edits.push({ key: 'stop_reason', value: JSON.stringify(reason) })
    if (lawfulBlocks(content) !== content) {
      // Parsed exactly, so that the numbers in a call's input leave as they came.
      const exact = fieldListIn(parseExactFields(text)?.['content']) ?? content
      edits.push({ key: 'content', value: JSON.stringify(lawfulBlocks(exact)) })
    }
    return edits.length === 0 ? text : reviseJson(text, edits, answerLimits)
  }
  return { kind: 'reply', reply: { usage, produced: content.map(producedBy).join('\n'), write } }
}

const reasonIn = ({ stop_reason: given }: Fields, hasCalls: boolean): unknown =>
  given === undefined ? given : (stopReasonIn(given, hasCalls) ?? (hasCalls ? 'tool_use' : 'end_turn'))

/** The text of one block of an answer. */
export function producedBy(block: unknown): string {
  const { type, text, thinking, name, input } = asFields(block)
  if (type === 'tool_use') return asText(name) + JSON.stringify(input ?? {})
  return asText(text) + asText(thinking)
}
