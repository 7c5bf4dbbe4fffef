/** Names of tools. Each dialect allows different ones, and a conversation may hold names from all of them. */
import { createHash } from 'node:crypto'
import type { Delta, Dialect, OutputPart, Reply, Turn } from '../../domain/turn.ts'

const DIGEST_CHARS = 8

/**
 * The names that every vendor of a dialect accepts. OpenAI refuses more than 64 characters (BerriAI/litellm#17904).
 * Google refuses names that begin with a digit (FunctionDeclaration.name, ai.google.dev/api/caching, 2026-11).
 * Anthropic takes 128 characters (docs.anthropic.com, tool use, 2026-11), Amazon 64 (ToolName in the service model of
 * bedrock-runtime, boto/botocore, 2026-08).
 */
const forms: Readonly<Record<Dialect, { readonly lawful: RegExp; readonly most: number }>> = {
  chat: { lawful: /^[a-zA-Z_][\w-]{0,63}$/, most: 64 },
  responses: { lawful: /^[a-zA-Z_][\w-]{0,63}$/, most: 64 },
  gemini: { lawful: /^[a-zA-Z_][\w-]{0,63}$/, most: 64 },
  messages: { lawful: /^[\w-]{1,128}$/, most: 128 },
  converse: { lawful: /^[\w-]{1,64}$/, most: 64 },
}

/** Names as an upstream accepts them, and the way back. */
export class FittedNames {
  private readonly originals = new Map<string, string>()
  private readonly fitted = new Map<string, string>()

  constructor(names: Iterable<string>, dialect: Dialect) {
    const { lawful, most } = forms[dialect]
    for (const name of names) {
      if (lawful.test(name) || this.fitted.has(name)) continue
      const fitted = shortened(name, most)
      this.fitted.set(name, fitted)
      this.originals.set(fitted, name)
    }
  }

  /** How many names were changed. */
  get size(): number {
    return this.fitted.size
  }

  fit(name: string): string {
    return this.fitted.get(name) ?? name
  }

  original(name: string): string {
    return this.originals.get(name) ?? name
  }
}

export class ToolNames {
  /** The turn with names that its upstream accepts. */
  readonly turn: Turn
  private readonly names: FittedNames

  constructor(turn: Turn, dialect: Dialect) {
    this.names = new FittedNames(namesIn(turn), dialect)
    this.turn = this.names.size === 0 ? turn : this.renamed(turn)
  }

  /** A name as its upstream accepts it. */
  fit(name: string): string {
    return this.names.fit(name)
  }

  /** An answer with the client's own names. */
  restored(reply: Reply): Reply {
    if (this.names.size === 0) return reply
    const own = (part: OutputPart): OutputPart =>
      part.kind === 'tool_call' ? { ...part, name: this.names.original(part.name) } : part
    const choices = reply.choices.map((choice) => ({ ...choice, parts: choice.parts.map(own) }))
    return { ...reply, choices, deltas: reply.deltas && this.restoredIn(reply.deltas) }
  }

  /** The same for deltas of a stream. */
  restoredIn(deltas: readonly Delta[]): readonly Delta[] {
    if (this.names.size === 0) return deltas
    return deltas.map((delta) => (delta.kind === 'call' ? { ...delta, name: this.names.original(delta.name) } : delta))
  }

  private renamed(turn: Turn): Turn {
    const named = (name: string): string => this.fit(name)
    const { toolChoice: choice } = turn
    return {
      ...turn,
      tools: turn.tools.map((tool) => ({ ...tool, name: named(tool.name) })),
      messages: turn.messages.map((message) =>
        message.role === 'assistant'
          ? {
              ...message,
              parts: message.parts.map((part) =>
                part.kind === 'tool_call' ? { ...part, name: named(part.name) } : part,
              ),
            }
          : message,
      ),
      toolChoice:
        choice?.kind === 'tool'
          ? { ...choice, name: named(choice.name) }
          : choice?.kind === 'allowed'
            ? { ...choice, names: choice.names.map(named) }
            : choice,
    }
  }
}

function* namesIn({ tools, messages }: Turn): Generator<string> {
  for (const { name } of tools) yield name
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    for (const part of message.parts) if (part.kind === 'tool_call') yield part.name
  }
}

/** The same name gets the same result in every turn, and different names get different results. */
function shortened(name: string, most: number): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST_CHARS)
  const plain = name.replaceAll(/[^\w-]/g, '_').replace(/^(?![a-zA-Z_])/, '_')
  return `${plain.slice(0, most - DIGEST_CHARS - 1)}_${digest}`
}
