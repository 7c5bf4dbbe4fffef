import type { Dialect } from '../domain/turn.ts'
import { chatUpstreamSide } from './chat/upstream-side.ts'
import type { UpstreamSide } from './core/contract.ts'
import { converseUpstreamSide } from './converse/upstream-side.ts'
import { geminiUpstreamSide } from './gemini/upstream-side.ts'
import { messagesUpstreamSide } from './messages/upstream-side.ts'
import { responsesUpstreamSideWith } from './responses/upstream-side.ts'

const sides: Partial<Record<Dialect, UpstreamSide>> = {
  chat: chatUpstreamSide,
  responses: responsesUpstreamSideWith(chatUpstreamSide),
  messages: messagesUpstreamSide,
  gemini: geminiUpstreamSide,
  converse: converseUpstreamSide,
}

/** The upstream side for an upstream that supports these dialects. The first one that the gateway can write is used. */
export function upstreamSideOf(offered: readonly Dialect[]): UpstreamSide {
  for (const dialect of offered) {
    const side = sides[dialect]
    if (side) return side
  }
  throw new Error(`no way to write ${offered.join(' or ')}`)
}
