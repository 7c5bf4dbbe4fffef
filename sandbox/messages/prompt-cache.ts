import { countPrompt } from '../chat/usage.ts'
import { hashOf } from '../random.ts'
import { asChat } from './conversion.ts'
import type { MessagesCountRequest } from './request.ts'

/** The input tokens of a request. Each token is in exactly one count. */
export type InputCount = { fresh: number; read: number; written: number; ttl: '5m' | '1h' }

/** The number of remembered prefixes. Beyond it, the oldest is forgotten. Prefixes do not expire. */
const PREFIXES_MAX = 1_000

/** A mark by `cache_control`. The prefix before it is cached. */
type Mark = { prefix: MessagesCountRequest; ttl: '5m' | '1h' }

/** The cache of marked prefixes. Real caches require a thousand tokens. This one caches any length. */
export class PromptCache {
  readonly #prefixes = new Set<number>()

  /** Counts a request's input, finds its cached prefix, and caches its marked prefixes. */
  count(request: MessagesCountRequest): InputCount {
    const total = countPrompt(asChat(request))
    const marks = marksOf(request)
    const last = marks.at(-1)
    if (!last) return { fresh: total, read: 0, written: 0, ttl: '5m' }
    const hit = marks.findLast(({ prefix }) => this.#prefixes.has(keyOf(prefix)))
    for (const { prefix } of marks) this.#keep(keyOf(prefix))
    const kept = Math.min(countPrompt(asChat(last.prefix)), total)
    const read = hit ? Math.min(countPrompt(asChat(hit.prefix)), kept) : 0
    return { fresh: total - kept, read, written: kept - read, ttl: last.ttl }
  }

  #keep(key: number): void {
    if (this.#prefixes.size >= PREFIXES_MAX) {
      for (const oldest of this.#prefixes) {
        this.#prefixes.delete(oldest)
        break
      }
    }
    this.#prefixes.add(key)
  }
}

function keyOf({ model, tools, system, messages }: MessagesCountRequest): number {
  // A mark is not part of the prefix.
  const text = JSON.stringify([model, tools, system, messages], (name, value: unknown) =>
    name === 'cache_control' ? undefined : value,
  )
  return hashOf(text)
}

function marksOf(request: MessagesCountRequest): Mark[] {
  const marks: Mark[] = []
  const { system, messages } = request
  if (Array.isArray(system)) {
    for (const [i, { cache_control: control }] of system.entries()) {
      const prefix = { ...request, system: system.slice(0, i + 1), messages: [] }
      if (control) marks.push({ prefix, ttl: control.ttl ?? '5m' })
    }
  }
  for (const [index, message] of messages.entries()) {
    if (typeof message.content === 'string') continue
    for (const [i, block] of message.content.entries()) {
      const control = 'cache_control' in block ? block.cache_control : undefined
      if (!control) continue
      const cut = { ...message, content: message.content.slice(0, i + 1) } as typeof message
      marks.push({ prefix: { ...request, messages: [...messages.slice(0, index), cut] }, ttl: control.ttl ?? '5m' })
    }
  }
  const { cache_control: whole } = request
  if (whole) marks.push({ prefix: request, ttl: whole.ttl ?? '5m' })
  return marks
}
