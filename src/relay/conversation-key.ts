/** What tells the router that requests belong to one conversation, so that they find its prompt cache warm. */
import type { Model } from '../domain/catalog.ts'
import { usualStickiness } from '../domain/routing.ts'
import { KIB } from '../lib/primitives/units.ts'
import { conversationKeyOf, type ConversationKey } from '../router/conversations.ts'
import type { GatewayRequest } from './call.ts'

/**
 * The headers in which programs name their session: clients of OpenRouter, Codex (the hyphen since 2026), Claude Code,
 * and opencode (openrouter.ai/docs/guides/features/prompt-caching, github.com/raine/claude-code-proxy/pull/156,
 * code.claude.com/docs/en/llm-gateway-protocol, docs.llmgateway.io/features/sessions, 2026-11).
 */
const sessionHeaders = ['x-session-id', 'session-id', 'session_id', 'x-claude-code-session-id', 'x-session-affinity']

/** Of each text, so much is hashed, and its length. */
const HASHED_CHARS_MAX = 8 * KIB

/**
 * The conversation of a request as a hash, or undefined if its offers are chosen anew each time. Two accounts never
 * share one. A conversation that changes the model begins anew, because no cache serves two models.
 */
export const conversationKeyFor = (call: GatewayRequest, model: Model): ConversationKey | undefined =>
  model.offers.length < 2 ? undefined : conversationOfModel(call, model)

/** The same for a model with any number of offers. */
export function conversationOfModel(call: GatewayRequest, { id, limits, kind }: Model): ConversationKey | undefined {
  if (kind !== 'text') return undefined
  const stickiness = limits.sticky ?? usualStickiness(limits.routing)
  if (stickiness === 'off') return undefined
  const words = namesOf(call) ?? (stickiness === 'opening' ? call.request.opening?.() : turnOf(call))
  if (!words || words.every((text) => text === '')) return undefined
  return conversationKeyOf([call.caller.account.id, id, ...words.flatMap(hashedPart)])
}

const hashedPart = (text: string): readonly string[] => [String(text.length), text.slice(0, HASHED_CHARS_MAX)]

function namesOf({ request, headers }: GatewayRequest): readonly string[] | undefined {
  const name = request.cacheKey || sessionOf(headers) || request.endUser
  return name ? ['name', name] : undefined
}

function sessionOf(headers: GatewayRequest['headers']): string | undefined {
  if (headers)
    for (const name of sessionHeaders) {
      const session = headers.get(name)
      if (session) return session
    }
  return undefined
}

/** A conversation that the gateway keeps is named by its first turn, whose id is that of its request. */
function turnOf({ id, request }: GatewayRequest): readonly string[] | undefined {
  const { conversation } = request
  if (!conversation || (conversation.firstId === undefined && conversation.keptBytes === undefined)) return undefined
  return ['turn', withoutPrefix(conversation.firstId ?? id)]
}

/** `req_1` and `resp_1` → `1` */
const withoutPrefix = (id: string): string => id.slice(id.indexOf('_') + 1)
