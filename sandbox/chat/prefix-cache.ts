import { hashOf } from '../random.ts'
import type { SandboxChatRequest } from './request.ts'

/** OpenAI caches the beginnings of prompts of at least so many tokens, in steps of so many (2026-11). */
const TOKENS_MIN = 1_024
const TOKENS_STEP = 128
/** A prefix is identified by hashes of its blocks. Each hash includes all earlier blocks. */
const BLOCK_CHARS = 512
const BLOCKS_MAX = 400
/** The number of remembered beginnings. Beyond it, the oldest is forgotten. */
const KNOWN_MAX = 20_000

/** The beginnings of earlier prompts. Vendors bill cached beginnings at a lower price. */
export class PrefixCache {
  readonly #known = new Set<number>()

  /** Counts the known tokens of a prompt, and remembers its beginnings. */
  count({ model, tools, messages }: SandboxChatRequest, promptTokens: number): number {
    if (promptTokens < TOKENS_MIN) return 0
    const text = JSON.stringify([model, tools ?? [], messages])
    let [hash, blocks, isKnown] = [0, 0, true]
    for (let at = 0; at + BLOCK_CHARS <= text.length && at < BLOCK_CHARS * BLOCKS_MAX; at += BLOCK_CHARS) {
      hash = hashOf(text.slice(at, at + BLOCK_CHARS), hash)
      isKnown &&= this.#known.has(hash)
      if (isKnown) blocks += 1
      else this.#keep(hash)
    }
    const share = Math.min(1, (blocks * BLOCK_CHARS) / text.length)
    const tokens = Math.floor((promptTokens * share) / TOKENS_STEP) * TOKENS_STEP
    return tokens < TOKENS_MIN ? 0 : tokens
  }

  #keep(hash: number): void {
    if (this.#known.size >= KNOWN_MAX) {
      for (const oldest of this.#known) {
        this.#known.delete(oldest)
        break
      }
    }
    this.#known.add(hash)
  }
}
