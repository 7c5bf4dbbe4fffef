/** What is kept of a request that was refused: who asked for what, never a secret or a prompt. */
import type { Accounts } from '../accounts/accounts.ts'
import type { RefusedRequest } from '../records/refused.ts'
import { presentedKey } from './presented-key.ts'
import type { RequestContext } from './request-context.ts'

const PATH_CHARS = 100
const MODEL = /^[\w][\w.:/@-]{0,99}$/
const SECRET = /sk-[\w-]+/i
/** What records call the endpoints that generate: a request that was refused before it was read is of one, too. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'chat.completions',
  '/v1/responses': 'responses',
  '/v1/responses/compact': 'responses',
  '/v1/messages': 'messages',
  '/v1/embeddings': 'embeddings',
  '/v1/images/generations': 'images.generations',
  '/v1/images/edits': 'images.edits',
  '/v1/videos': 'videos',
  '/v1/video/generations': 'videos',
}
const GEMINI = /^\/v1(?:beta|alpha)?\/models\/.+:(?:generateContent|streamGenerateContent|(?:e|batchE)mbedContents?)$/
const ID = /\/(?:[a-z]+_[0-9a-z]{20,}|[^/]{64,})/g

/** A path with its ids left out; one that may hold a key says nothing. */
function pathOf(path: string): string {
  if (SECRET.test(path)) return 'other'
  return path.replace(ID, '/{id}').slice(0, PATH_CHARS)
}

function endpointOf(method: string, path: string): string {
  if (method !== 'POST') return pathOf(path)
  return Object.hasOwn(ENDPOINTS, path) ? (ENDPOINTS[path] ?? path) : GEMINI.test(path) ? 'gemini' : pathOf(path)
}

/** A name that could be a model's; what cannot is the client's own text. */
const modelIn = (name: string): string | undefined => (MODEL.test(name) && !SECRET.test(name) ? name : undefined)

export function refusedNote(
  { exchange, id, caller, request }: RequestContext,
  accounts: Pick<Accounts, 'keyPresented'>,
  { status, code }: { readonly status: number; readonly code: string },
): RefusedRequest {
  const { method, path } = exchange.head
  // A revoked key is still somebody's.
  const key = caller?.key ?? accounts.keyPresented(presentedKey(exchange) ?? '')
  return {
    id,
    accountId: caller?.account.id ?? (key && 'accountId' in key ? key.accountId : undefined),
    keyId: key?.id,
    method: method.slice(0, 10),
    endpoint: request?.endpoint ?? endpointOf(method, path),
    model: request && modelIn(request.model),
    status,
    code,
    atMs: Date.now(),
  }
}
