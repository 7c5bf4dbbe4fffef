import { complain } from '../complaint.ts'
import { declareModels, findModel, refuseModel, textBounds } from '../models.ts'
import { hashOf, randomIdOf } from '../random.ts'
import { refuse, type SandboxReply } from '../reply.ts'
import type { SandboxCall, VendorRoute } from '../route.ts'
import { composeChoices } from './choice.ts'
import { completionBody, type Completion } from './completion.ts'
import { LOGPROB_CHARS } from './logprobs.ts'
import type { PrefixCache } from './prefix-cache.ts'
import { chatRequest, type SandboxChatRequest } from './request.ts'
import { chatConflict } from './rules.ts'
import { chatFrames } from './stream.ts'
import { countPrompt } from './usage.ts'
import { safeParse } from '../../src/lib/json/safe-parse.ts'

declareModels(['sandbox-chat', 'sandbox-mini'].map((id) => ({ id, ...textBounds })))

export const chatRoutes = (prefixes: PrefixCache): readonly VendorRoute[] => [
  { kind: 'vendor', method: 'POST', path: '/v1/chat/completions', answer: (call) => answerChat(call, prefixes) },
]

/** `POST /v1/chat/completions`. `prefixes` holds the beginnings of earlier prompts. */
export function answerChat({ body, faults }: SandboxCall, prefixes?: PrefixCache): SandboxReply {
  const parsed = safeParse(chatRequest, body, { reportInput: true })
  if (!parsed.success) return refuse(400, complain(parsed.error))
  const request = parsed.data
  const model = findModel(request.model)
  if (!model || model.outputTokensDefault === undefined || model.images) return refuseModel(request.model)
  const conflict = chatConflict(request)
  if (conflict) return refuse(400, conflict)
  const promptTokens = countPrompt(request)
  const tokensLeft = model.contextTokensMax - promptTokens
  if (tokensLeft < 1) return refuseLength(promptTokens, model.contextTokensMax)
  const cachedTokens = prefixes?.count(request, promptTokens) ?? 0
  const usual = model.outputTokensDefault
  const completion = complete(request, { promptTokens, cachedTokens, tokensLeft, usual, faults })
  if (!request.stream) return { kind: 'json', status: 200, body: completionBody(completion) }
  const atEnd = request.stream_options?.include_usage ?? false
  const running = request.stream_options?.continuous_usage_stats ?? false
  return { kind: 'stream', frames: chatFrames(completion, { atEnd, running }) }
}

type Room = Pick<Completion, 'promptTokens' | 'cachedTokens' | 'faults'> & {
  tokensLeft: number
  usual: number | undefined
}

function complete(request: SandboxChatRequest, { tokensLeft, usual = Infinity, ...counted }: Room): Completion {
  const { messages, tools, response_format: format, max_tokens: older, max_completion_tokens: newer } = request
  const asked = Math.min(older ?? newer ?? usual, newer ?? older ?? usual)
  const tokensMax = Math.min(tokensLeft, asked)
  const seed = hashOf(JSON.stringify([messages, tools, format]), (request.seed ?? 0) >>> 0)
  const topLogprobs = request.logprobs ? (request.top_logprobs ?? 0) : undefined
  // A stream makes the probabilities while it is sent.
  const tokenChars = topLogprobs === undefined || request.stream ? 0 : LOGPROB_CHARS * (1 + topLogprobs)
  const choices = composeChoices(request, { seed, tokensMax, tokenChars })
  return {
    id: randomIdOf('chatcmpl-'),
    createdUnixSeconds: Math.floor(Date.now() / 1000),
    model: request.model,
    choices,
    ...counted,
    topLogprobs,
  }
}

function refuseLength(promptTokens: number, contextTokensMax: number): SandboxReply {
  const limit = `This model's maximum context length is ${contextTokensMax} tokens.`
  const message = `${limit} However, your messages resulted in ${promptTokens} tokens. Please reduce their length.`
  return refuse(400, { message, code: 'context_length_exceeded', param: 'messages' })
}
