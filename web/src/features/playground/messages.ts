/** The messages of a chat, and the form in which they are sent. */
import { settingFields, type Settings } from './settings.ts'

/** An image of a message. Its data URL has its bytes. */
export type AttachedPicture = { readonly name: string; readonly address: string; readonly bytes: number }
export type Call = { readonly id: string; readonly name: string; readonly arguments: string }
export type UserMessage = {
  readonly role: 'user'
  readonly text: string
  readonly pictures: readonly AttachedPicture[]
}
export type Answer = {
  readonly role: 'assistant'
  readonly text: string
  readonly calls: readonly Call[]
  /** Set once the head of the answer has arrived. */
  readonly requestId?: string | null
  readonly state: 'done' | 'coming' | 'stopped' | 'failed'
}
export type Result = { readonly role: 'tool'; readonly call: Call; readonly text: string }
export type Message = UserMessage | Answer | Result

/** The unanswered tool calls at the end. The model does not continue before they are answered. */
export function openCalls(messages: readonly Message[]): readonly Call[] {
  const last = messages.at(-1)
  return last?.role === 'assistant' && last.state === 'done' ? last.calls : []
}

function sentOf(message: Message): object | undefined {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.call.id, content: message.text }
  if (message.role === 'user') {
    const { text, pictures } = message
    if (pictures.length === 0) return { role: 'user', content: text }
    const words = text === '' ? [] : [{ type: 'text', text }]
    const images = pictures.map(({ address: url }) => ({ type: 'image_url', image_url: { url } }))
    return { role: 'user', content: [...words, ...images] }
  }
  const { text, state } = message
  // The tool calls of a stopped answer are incomplete.
  const calls = state === 'done' ? message.calls : []
  if (state === 'failed' || (text === '' && calls.length === 0)) return undefined
  if (calls.length === 0) return { role: 'assistant', content: text }
  const made = calls.map(({ id, ...call }) => ({ id, type: 'function', function: call }))
  return { role: 'assistant', content: text === '' ? null : text, tool_calls: made }
}

export const bodyOf = (
  model: string,
  settings: Settings,
  said: readonly Message[],
): Readonly<Record<string, unknown>> => ({
  model,
  messages: [
    ...(settings.system.trim() === '' ? [] : [{ role: 'system', content: settings.system }]),
    ...said.map(sentOf).filter((message) => message !== undefined),
  ],
  ...settingFields(settings),
  stream: true,
})

type CallDelta = {
  readonly index?: number
  readonly id?: string
  readonly function?: { readonly name?: string; readonly arguments?: string }
}
export type Delta = { readonly content?: string | null; readonly tool_calls?: readonly CallDelta[] }

/** Adds the next piece to an answer. */
export function grown({ text, calls }: Pick<Answer, 'text' | 'calls'>, delta: Delta): Pick<Answer, 'text' | 'calls'> {
  const all = [...calls]
  for (const { index = 0, id, function: part } of delta.tool_calls ?? []) {
    const before = all[index] ?? { id: '', name: '', arguments: '' }
    all[index] = {
      id: id ?? before.id,
      name: before.name + (part?.name ?? ''),
      arguments: before.arguments + (part?.arguments ?? ''),
    }
  }
  return { text: text + (delta.content ?? ''), calls: all.filter((call) => call !== undefined) }
}

export const bytesIn = (messages: readonly Message[]): number =>
  messages.reduce(
    (sum, message) => sum + (message.role === 'user' ? message.pictures.reduce((all, one) => all + one.bytes, 0) : 0),
    0,
  )
