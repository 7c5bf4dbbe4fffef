/** Messages to Messages: the client's bytes go up, and the upstream's bytes come down. */
import type { AnswerFacts, Destination, Adapter, AdaptedStream, ReadReply, UpstreamRequest } from '../core/contract.ts'
import { messagesFailures } from './failure.ts'
import { readMessagesReply } from './reply.ts'
import { writeMessagesBody, type MessagesRequest } from './request.ts'
import { MessagesStream } from './stream.ts'
import { messagesPath, VERSION_HEADER } from './wire.ts'

/** Betas by which tokens cost more than the model's price says (2026-11). */
const DEARER_BETA = /^(?:context-1m|fast-mode|mcp-client|code-execution|advisor|fallback)/
const BETA = /^[\w.-]{1,100}$/

/** Requests of this format always have an output limit, so this adapter never has to handle one without. */
export class DirectMessages implements Adapter {
  readonly dialect = 'messages'
  readonly obstacle = undefined
  readonly failures = messagesFailures
  private readonly client: MessagesRequest
  private readonly betas: readonly string[]

  constructor(client: MessagesRequest, betas: string | undefined) {
    this.client = client
    this.betas = (betas ?? '').split(',').map((beta) => beta.trim())
  }

  request(to: Destination): UpstreamRequest {
    const known = this.betas.filter((beta) => BETA.test(beta))
    const dropped = known.filter((beta) => DEARER_BETA.test(beta))
    const kept = known.filter((beta) => !DEARER_BETA.test(beta))
    const written = writeMessagesBody(this.client, to)
    const headers = kept.length === 0 ? VERSION_HEADER : { ...VERSION_HEADER, 'anthropic-beta': kept.join(',') }
    const path = messagesPath(to, this.client.stream)
    return { path, headers, body: written.body, dropped: [...dropped, ...written.dropped] }
  }

  readReply(text: string): ReadReply {
    return readMessagesReply(text)
  }

  openStream(answer: AnswerFacts): AdaptedStream {
    return new MessagesStream(answer)
  }
}
