/**
 * Custom tools take free text, often by a grammar (`apply_patch` of Codex). An upstream that knows functions only gets
 * a function whose one argument is that text. Its calls become free text again, piece by piece as they arrive.
 */
import type { Delta, Message, OutputPart, Reply, Tool, Turn } from '../../domain/turn.ts'
import { asFields, asList, parseFields, textIn } from './fields.ts'
import { TextArgument } from './text-argument.ts'

const INPUT = 'input'

const parameters = { type: 'object', properties: { [INPUT]: { type: 'string' } }, required: [INPUT] }

/** The turn with functions in place of its custom tools, in its history as well. */
export function withFunctions(turn: Turn): Turn {
  const isPlain = turn.tools.every(({ kind }) => kind === 'function') && !turn.messages.some(hasFreeText)
  if (isPlain) return turn
  return { ...turn, tools: turn.tools.map(asFunction), messages: turn.messages.map(withArguments) }
}

const isFreeText = (part: OutputPart): boolean => part.kind === 'tool_call' && part.tool === 'custom'
const hasFreeText = (message: Message): boolean => message.role === 'assistant' && message.parts.some(isFreeText)

function asFunction(tool: Tool): Tool {
  if (tool.kind === 'function') return tool
  const { name, description, format } = tool
  const { type, syntax, definition } = asFields(format)
  const grammar =
    type === 'grammar' ? `The input must match this ${textIn(syntax) ?? ''} grammar:\n${textIn(definition) ?? ''}` : ''
  const how = `Give the whole text as '${INPUT}', as it is.`
  const about = [description ?? '', grammar, how].filter((text) => text !== '').join('\n\n')
  return { kind: 'function', name, description: about, parameters }
}

function withArguments(message: Message): Message {
  if (message.role !== 'assistant') return message
  const parts = message.parts.map((part): OutputPart => {
    if (part.kind !== 'tool_call' || part.tool !== 'custom') return part
    return { ...part, tool: 'function', arguments: JSON.stringify({ [INPUT]: part.arguments }) }
  })
  return { ...message, parts }
}

/** The way back: calls of functions that stand for custom tools. */
export class FreeText {
  private readonly names: ReadonlySet<string>
  /** Open calls, by choice and number. */
  private readonly open = new Map<string, TextArgument>()

  constructor({ tools }: Turn) {
    this.names = new Set(tools.flatMap(({ kind, name }) => (kind === 'custom' ? [name] : [])))
  }

  reply(reply: Reply): Reply {
    if (this.names.size === 0) return reply
    const choices = reply.choices.map((choice) => ({ ...choice, parts: choice.parts.map((part) => this.part(part)) }))
    return { ...reply, choices, deltas: reply.deltas && this.deltas(reply.deltas) }
  }

  deltas(deltas: readonly Delta[]): readonly Delta[] {
    return this.names.size === 0 ? deltas : deltas.flatMap((delta) => this.delta(delta))
  }

  private part(part: OutputPart): OutputPart {
    if (part.kind !== 'tool_call' || part.tool === 'custom' || !this.names.has(part.name)) return part
    return { ...part, tool: 'custom', arguments: freeText(part.arguments) }
  }

  private delta(delta: Delta): Delta[] {
    switch (delta.kind) {
      case 'call': {
        if (delta.tool === 'custom' || !this.names.has(delta.name)) return [delta]
        this.open.set(`${delta.choice}/${delta.call}`, new TextArgument(INPUT))
        return [{ ...delta, tool: 'custom' }]
      }
      case 'arguments': {
        const argument = this.open.get(`${delta.choice}/${delta.call}`)
        if (!argument) return [delta]
        const text = argument.add(delta.text)
        return text === '' ? [] : [{ ...delta, text }]
      }
      case 'finish':
        return [...this.rest(delta.choice), delta]
      default:
        return [delta]
    }
  }

  /** The text of a choice's calls that is known only at their end. */
  private rest(choice: number): Delta[] {
    const deltas: Delta[] = []
    for (const [key, argument] of this.open) {
      const [of, call] = key.split('/').map(Number)
      if (of !== choice || call === undefined) continue
      this.open.delete(key)
      const text = argument.end(freeText)
      if (text !== '') deltas.push({ kind: 'arguments', choice, call, text })
    }
    return deltas
  }
}

/** The text in the arguments of such a function. Some models rename its one argument, or write no JSON. */
export function freeText(json: string): string {
  const told = new TextArgument(INPUT).add(json)
  if (told !== '') return told
  const fields = parseFields(json)
  if (!fields) return json
  const text = textIn(fields[INPUT])
  if (text !== undefined) return text
  const values = Object.values(fields)
  const lines = values.length === 1 ? asList(values[0]) : []
  if (lines.length > 0 && lines.every((line) => typeof line === 'string')) return lines.join('\n')
  return (values.length === 1 ? textIn(values[0]) : undefined) ?? json
}
