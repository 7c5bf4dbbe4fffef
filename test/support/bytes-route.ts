/**
 * Loaded before a gateway. Adds `POST /v1/test/bytes` to its routes, whose answer is bytes. It stands for any modality
 * with such answers: all that is particular to it is in this file.
 */
import { generate } from '../../src/edge/generate.ts'
import { jsonBody } from '../../src/edge/request-body.ts'
import type { PublicRoute } from '../../src/edge/route.ts'
import { mediaRoutes } from '../../src/edge/routes/media.ts'
import type { Adapter, ClientRequest } from '../../src/formats/core/contract.ts'
import { chatFailures, writeFailure } from '../../src/formats/core/openai-failure.ts'
import { late } from '../../src/lib/primitives/lazy.ts'

type Body = { readonly model: string; readonly input: string; readonly stream: boolean }

function unused(): never {
  throw new Error('bytes are not read')
}

const adapterOf = ({ input, stream }: Body): Adapter => ({
  dialect: 'chat',
  obstacle: undefined,
  failures: chatFailures,
  request: ({ upstreamModel }) => ({
    path: '/bytes',
    headers: {},
    body: JSON.stringify({ model: upstreamModel, input, stream }),
    dropped: [],
  }),
  bytes: { typeOf: (type) => (type.startsWith('audio/mpeg') ? 'audio/mpeg' : undefined) },
  readReply: unused,
  openStream: unused,
})

const requestOf = (body: Body): ClientRequest => ({
  endpoint: 'test.bytes',
  model: body.model,
  stream: body.stream,
  wantsBytes: true,
  choices: 1,
  outputTokensMax: 0,
  textBytes: Buffer.byteLength(body.input),
  imageParts: 0,
  mediaBytes: 0,
  messages: 0,
  promptText: () => body.input,
  failures: { write: writeFailure },
  failStream: unused,
  adapter: () => adapterOf(body),
})

const reader = late(() => Promise.resolve({ read: (text: string) => requestOf(JSON.parse(text) as Body) }))

const route: PublicRoute = {
  method: 'POST',
  path: '/v1/test/bytes',
  reads: jsonBody(reader, ({ read }, { text }) => ({ kind: 'read', request: read(text) })),
  limits: 'key_and_account',
  handler: generate,
  recordedAs: 'test.bytes',
  documentation: { tag: 'Test', summary: 'Bytes.', answer: { bytes: ['audio/mpeg'] } },
}
;(mediaRoutes as PublicRoute[]).push(route)
