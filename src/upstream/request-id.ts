/** The id by which a vendor knows a request. Its support asks for it. */
import type { KeptSecrets } from '../domain/catalog.ts'
import { repeatsSecret } from '../vendors/redaction.ts'
import type { HeaderFields } from '../lib/http/message-head.ts'

/** From vendors' documentation and SDKs (November 2026). A vendor's own header comes before that of a proxy. */
const HEADERS = [
  'x-request-id', // OpenAI, Groq, DashScope, Together, xAI, Mistral …
  'request-id', // Anthropic
  'x-goog-request-id',
  'apim-request-id', // Azure
  'x-ms-request-id',
  'x-amzn-requestid', // Amazon Bedrock
  'x-amzn-request-id',
  'x-tt-logid', // Volcengine Ark
  'x-ds-trace-id', // DeepSeek
  'x-siliconcloud-trace-id',
  'minimax-request-id',
  'trace-id',
  'x-trace-id',
  'x-generation-id', // OpenRouter
  'x-oneapi-request-id', // one-api, new-api
  'x-litellm-call-id',
  'msh-request-id', // Moonshot
  'x-b3-traceid',
  'cf-ray', // Cloudflare, a proxy of many vendors
] as const

/** The form of an id. Other texts may be anything. */
const PLAIN_ID = /^[\w.:/=+@-]{1,128}$/

/** A header that repeats the credential is not an id. */
export function requestIdIn(headers: HeaderFields, secrets: KeptSecrets): string | undefined {
  for (const name of HEADERS) {
    const id = headers.get(name)
    if (id !== undefined && PLAIN_ID.test(id) && !repeatsSecret(id, secrets)) return id
  }
  return undefined
}

/** In a body: DashScope, Anthropic, Volcengine, Zhipu, Fireworks and others have it there. */
const IN_BODY = /"(?:request_?id|requestId|trace_?id|log_?id)"\s*:\s*"([\w.:/=+@-]{1,128})"/i
/** In the message: Volcengine, OpenAI, one-api. */
const IN_WORDS = /\brequest.?id:?\s*`?([\w-]{8,64})/i

/** The id in the text of an error. */
export const requestIdInText = (text: string): string | undefined => (IN_BODY.exec(text) ?? IN_WORDS.exec(text))?.[1]
