import { composeChoices } from '../chat/choice.ts'
import type { PrefixCache } from '../chat/prefix-cache.ts'
import { countImages, countPrompt } from '../chat/usage.ts'
import { complain } from '../complaint.ts'
import { declareModels, findModel, listModelIds, textBounds, type SandboxModel } from '../models.ts'
import { hashOf, randomIdOf } from '../random.ts'
import type { JsonReply, SandboxReply } from '../reply.ts'
import type { SandboxCall, VendorRoute, Voice } from '../route.ts'
import { asChatRequest, geminiConflict } from './conversation.ts'
import { embedContents } from './embedding.ts'
import { paintTurn } from './painting.ts'
import { geminiRequest, fieldsInCamelCase, type SandboxGeminiRequest } from './request.ts'
import { countBody, responseBody, responseFrames, type GeminiAnswer } from './response.ts'
import { findForgery } from './signature.ts'
import { refuseAsGemini } from './voice.ts'
import { safeParse } from '../../src/lib/json/safe-parse.ts'

declareModels([{ id: 'sandbox-image-gemini', ...textBounds, outputTokensDefault: 32_768, images: 'turn' }])

const voice: Voice = { refuse: refuseAsGemini }

/** `sandbox-chat!pace=20:generateContent` */
function splitTail(tail: string): { id: string; action: string } {
  const colon = tail.lastIndexOf(':')
  return colon === -1 ? { id: tail, action: '' } : { id: tail.slice(0, colon), action: tail.slice(colon + 1) }
}

const speaking = { kind: 'vendor', voice } as const

/** Google serves two versions at once, and its SDKs use both. */
export function geminiRoutes(prefixes: PrefixCache): readonly VendorRoute[] {
  const answer = (call: SandboxCall): Promise<SandboxReply> => answerGemini(call, prefixes)
  const asking = { ...speaking, method: 'POST', answer, modelIn: (tail: string) => splitTail(tail).id } as const
  return [
    { ...asking, path: '/v1beta/models/*' },
    { ...asking, path: '/v1/models/*' },
    { ...speaking, method: 'GET', path: '/v1beta/models', answer: listModels },
  ]
}

function listModels(): JsonReply {
  const models = listModelIds().map((id) => {
    const { videos, dimensions } = findModel(id) ?? {}
    const method = videos ? 'predictLongRunning' : dimensions === undefined ? 'generateContent' : 'embedContent'
    return { name: `models/${id}`, supportedGenerationMethods: [method] }
  })
  return { kind: 'json', status: 200, body: { models } }
}

async function answerGemini(call: SandboxCall, prefixes: PrefixCache): Promise<SandboxReply> {
  const { body, tail, query, faults, signal } = call
  const { id, action } = splitTail(tail)
  const model = findModel(id)
  if (!model) {
    const message = `models/${id} is not found for API version v1beta, or is not supported for ${action}.`
    return refuseAsGemini(404, { message, code: null })
  }
  if (action === 'countTokens') return count(id, body)
  if (action === 'embedContent' || action === 'batchEmbedContents') return embedContents(call, { id, action })
  if (action !== 'generateContent' && action !== 'streamGenerateContent') {
    return refuseAsGemini(404, { message: `There is no method ${action}.`, code: null })
  }
  const parsed = safeParse(geminiRequest, fieldsInCamelCase(body), { reportInput: true })
  if (!parsed.success) return refuseAsGemini(400, complain(parsed.error))
  const request = parsed.data
  const conflict = geminiConflict(request.contents) ?? findForgery(request.contents)
  if (conflict) return refuseAsGemini(400, conflict)
  const { responseModalities: wanted } = request.generationConfig ?? {}
  if (wanted?.some((one) => one === 'AUDIO' || (one === 'IMAGE' && model.images !== 'turn'))) {
    const message = `Model does not support the requested response modalities: ${wanted.join(',').toLowerCase()}`
    return refuseAsGemini(400, { message, code: null })
  }
  const answer = await compose(id, model, { request, signal, prefixes })
  if (answer === 'unreadable') return refuseAsGemini(400, { message: 'Unable to process input image.', code: null })
  if (!answer) {
    const message = `The input token count exceeds the maximum number of tokens allowed (${model.contextTokensMax}).`
    return refuseAsGemini(400, { message, code: null })
  }
  const told = { ...answer, faults }
  if (action === 'generateContent') return { kind: 'json', status: 200, body: responseBody(told) }
  if (query?.get('alt') === 'sse') return { kind: 'stream', frames: responseFrames(told) }
  // Without alt=sse, the same responses come as the elements of one array.
  const elements = [...responseFrames(told)].map(({ text }) => JSON.parse(text.slice('data: '.length)) as object)
  return { kind: 'json', status: 200, body: elements }
}

async function compose(
  id: string,
  model: SandboxModel,
  {
    request,
    signal,
    prefixes,
  }: { request: SandboxGeminiRequest; signal: AbortSignal | undefined; prefixes: PrefixCache },
): Promise<Omit<GeminiAnswer, 'faults'> | 'unreadable' | undefined> {
  const chat = asChatRequest(id, request)
  const promptTokens = countPrompt(chat)
  const tokensLeft = model.contextTokensMax - promptTokens
  if (tokensLeft < 1) return undefined
  const tokensMax = Math.min(tokensLeft, chat.max_completion_tokens ?? model.outputTokensDefault ?? Infinity)
  const includeThoughts = request.generationConfig?.thinkingConfig?.includeThoughts ?? false
  const promptImageTokens = countImages(chat)
  const cachedTokens = prefixes.count(chat, promptTokens)
  const shared = {
    responseId: randomIdOf(''),
    model: id,
    promptTokens,
    cachedTokens,
    promptImageTokens,
    includeThoughts,
  }
  if (model.images === 'turn') {
    const painted = await paintTurn(request, { tokensLeft: tokensMax, signal })
    if (!painted) return 'unreadable'
    const { choice, ...rest } = painted
    return { ...shared, choices: [choice], ...rest }
  }
  const seed = hashOf(JSON.stringify([chat.messages, chat.tools, chat.response_format]), (chat.seed ?? 0) >>> 0)
  return { ...shared, choices: composeChoices(chat, { seed, tokensMax }) }
}

/** Counts the tokens of contents, or of a whole request. */
function count(id: string, body: unknown): SandboxReply {
  const camel = fieldsInCamelCase(body ?? {}) as { generateContentRequest?: object }
  const { model: _, ...request } = (camel.generateContentRequest ?? camel) as { model?: unknown }
  const parsed = safeParse(geminiRequest, request, { reportInput: true })
  if (!parsed.success) return refuseAsGemini(400, complain(parsed.error))
  return { kind: 'json', status: 200, body: countBody(countPrompt(asChatRequest(id, parsed.data))) }
}
