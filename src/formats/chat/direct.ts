/** Chat to chat: the client's bytes go up, and the upstream's bytes come down. */
import type {
  AnswerFacts,
  Destination,
  Adapter,
  AdaptedStream,
  ReplyCollector,
  UpstreamRequest,
  WriterQuirks,
} from '../core/contract.ts'
import { fit, type FittedBody } from '../../vendors/fit.ts'
import { exactBody } from '../core/exact-body.ts'
import { pathOf } from '../core/model-path.ts'
import { readReceived } from '../core/buffered-reply.ts'
import type { FittedNames } from '../core/tool-names.ts'
import { ChatCollector } from './collector.ts'
import { directNames, withFittedNames } from './direct-names.ts'
import { chatFailures } from '../core/openai-failure.ts'
import { lawfulHistory } from './history.ts'
import { eventsOfReply } from './reply-events.ts'
import { readChatReply } from './reply.ts'
import { writeUpstreamRequest, type ChatRequest } from './request.ts'
import type { ChatBody } from './schema.ts'
import { ChatStream } from './stream.ts'
import { isVendorTool, splitChatTools } from './disallowed-fields.ts'
import { namesOf } from '../core/vendor-tools.ts'
import { CHAT_PATH } from './wire.ts'

export class DirectChat implements Adapter {
  readonly dialect = 'chat'
  readonly obstacle = undefined
  readonly failures = chatFailures
  readonly eventsOfReply = eventsOfReply
  private readonly client: ChatRequest
  private readonly names: FittedNames | undefined

  constructor(client: ChatRequest) {
    this.client = client
    this.names = directNames(client.body)
  }

  request(to: Destination): UpstreamRequest {
    const { upstreamModel, outputTokensMax, collected = false, quirks } = to
    const { changes, dropped } = this.fitted(quirks)
    const body = writeUpstreamRequest(this.client, {
      upstreamModel,
      outputTokensMax,
      outputMaxField: quirks.outputMaxField,
      askForUsage: quirks.usageInStream === 'on_request',
      collected,
      fitted: changes,
    })
    return { path: pathOf(CHAT_PATH, to), headers: NO_HEADERS, body, dropped }
  }

  /** A value that is written again is parsed exactly, so that its numbers keep their digits. */
  private fitted({ rules }: WriterQuirks): FittedBody {
    const { body, text } = this.client
    const found = lawfullyFitted(body, { rules, names: this.names })
    return Object.values(found.changes).some((value) => typeof value === 'object')
      ? lawfullyFitted(exactBody(body, text), { rules, names: this.names })
      : found
  }

  readReply(text: string, { usageDialect }: WriterQuirks): ReturnType<Adapter['readReply']> {
    return readReceived(text, (received) => readChatReply(received, usageDialect, this.names))
  }

  collector(): ReplyCollector {
    return new ChatCollector()
  }

  openStream({ publicModel }: AnswerFacts, { usageDialect }: WriterQuirks): AdaptedStream {
    const { usageAsked, choices } = this.client
    return new ChatStream({ publicModel, choices, usageAsked, usageDialect, names: this.names })
  }
}

type FitContext = { readonly rules: WriterQuirks['rules']; readonly names: FittedNames | undefined }

function lawfullyFitted(body: ChatBody, { rules, names }: FitContext): FittedBody {
  const lawful: { messages?: unknown; tools?: unknown; tool_choice?: unknown } = {}
  const { messages, dropped: lost } = lawfulHistory(body.messages, rules)
  if (messages !== body.messages) lawful.messages = messages
  const left = body.tools ? namesOf(splitChatTools(body.tools)) : []
  if (left.length > 0) lawful.tools = body.tools?.filter((tool) => !isVendorTool(tool))
  if (names) Object.assign(lawful, withFittedNames({ ...body, ...lawful }, names))
  if (Object.keys(lawful).length === 0) return fit(body, rules)
  const { changes, dropped } = fit({ ...body, ...lawful }, rules)
  return { changes: { ...lawful, ...changes }, dropped: [...new Set([...lost, ...left, ...dropped])] }
}

const NO_HEADERS = {}
