/** A command that sends a similar request. Its content is not stored, so the user fills it in. */
import type { RequestDetail } from '../../lib/api-types.gen.ts'

/** The fields of each endpoint besides the model, for endpoints that take a sentence. */
const bodies: Readonly<Record<string, readonly [path: string, body: Readonly<Record<string, unknown>>]>> = {
  'chat.completions': ['chat/completions', { messages: [{ role: 'user', content: '…' }] }],
  responses: ['responses', { input: '…' }],
  messages: ['messages', { max_tokens: 1024, messages: [{ role: 'user', content: '…' }] }],
  embeddings: ['embeddings', { input: '…' }],
  'images.generations': ['images/generations', { prompt: '…' }],
  videos: ['videos', { content: [{ type: 'text', text: '…' }] }],
}

type RepeatableRequest = Pick<RequestDetail, 'endpoint' | 'model' | 'stream' | 'id'>

/** Undefined if the request consists of files, or its model is part of its path. */
export function commandFor({ endpoint, model, stream, id }: RepeatableRequest, baseUrl: string): string | undefined {
  const known = bodies[endpoint]
  if (!known) return undefined
  const [path, body] = known
  const text = JSON.stringify({ model, ...body, ...(stream ? { stream } : {}) })
  return [
    `# ${id}`,
    `curl ${baseUrl}/${path} \\`,
    '  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '${text.replaceAll("'", String.raw`'\''`)}'`,
  ].join('\n')
}
