/** Chat to chat: the client's own bytes up, the upstream's own bytes down. */
import type {
  AnswerFacts,
  Destination,
  Passage,
  PassedStream,
  ReplyCollector,
  UpstreamRequest,
  WriterQuirks,
} from '../format.ts'
import { fit } from '../../vendors/fit.ts'
import { readReceived } from '../received.ts'
import { ChatCollector } from './collector.ts'
import { chatFailures } from './failure.ts'
import { readChatReply } from './reply.ts'
import { writeUpstreamRequest, type ChatRequest } from './request.ts'
import { ChatStream } from './stream.ts'
import { CHAT_PATH } from './wire.ts'

export class DirectChat implements Passage {
  readonly dialect = 'chat'
  readonly obstacle = undefined
  readonly failures = chatFailures
  private readonly client: ChatRequest

  constructor(client: ChatRequest) {
    this.client = client
  }

  request({ upstreamModel, outputTokensMax, collected = false, quirks }: Destination): UpstreamRequest {
    const { changes, dropped } = fit(this.client.body, quirks.rules)
    const body = writeUpstreamRequest(this.client, {
      upstreamModel,
      outputTokensMax,
      outputMaxField: quirks.outputMaxField,
      askForUsage: quirks.usageInStream === 'on_request',
      collected,
      fitted: changes,
    })
    return { path: CHAT_PATH, headers: NO_HEADERS, body, dropped }
  }

  readReply(text: string, { usageDialect }: WriterQuirks): ReturnType<Passage['readReply']> {
    return readReceived(text, (received) => readChatReply(received, usageDialect))
  }

  collector(): ReplyCollector {
    return new ChatCollector()
  }

  openStream({ publicModel }: AnswerFacts, { usageDialect }: WriterQuirks): PassedStream {
    const { usageAsked, choices } = this.client
    return new ChatStream({ publicModel, choices, usageAsked, usageDialect })
  }
}

const NO_HEADERS = {}
