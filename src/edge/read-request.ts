/** Receives a request: reads its body within limits, then parses it in its dialect. */
import type { UploadBatch, Uploads } from '../blobs/uploads.ts'
import type { Failure } from '../domain/failure.ts'
import type { RoutingHints } from '../domain/routing-hints.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { mayHaveHints, type HintField } from '../formats/core/hint-fields.ts'
import type { FormRules } from '../formats/core/form.ts'
import { afterScan } from '../formats/core/request-json.ts'
import type { BodyLimits, ServerExchange } from '../inbound/exchange.ts'
import { usableModel } from '../catalog/usable-model.ts'
import type { RelayPort } from '../relay/port.ts'
import { CROWDED, readJsonBody, type ReadBody } from './body.ts'
import { readForm, readJsonForm, type ReadForm } from './form.ts'
import type { RequestBody, FormBody, JsonBody, ReadClientRequest } from './request-body.ts'
import type { RequestContext } from './request-context.ts'
import { late } from '../lib/primitives/lazy.ts'
import { MINUTE_MS } from '../lib/primitives/units.ts'

export type ReceivedRequest = {
  readonly kind: 'received'
  readonly request: ClientRequest
  /** Identifies the content of the request. A repetition has the same fingerprint. */
  readonly fingerprint: string
  /** How the request wishes to be routed, if it says so. */
  readonly hints?: RoutingHints | undefined
}
type Outcome = (ReceivedRequest | { readonly kind: 'rejected'; readonly failure: Failure }) & {
  /** Releases files and memory of the request when it has ended. */
  readonly release?: () => Promise<void>
}

export type ReceiveOptions = {
  readonly chatBody: BodyLimits
  readonly uploads: Uploads
  readonly relay: Pick<RelayPort, 'catalog'>
}

const NO_ROOM: Failure = {
  kind: 'unavailable',
  message: 'The gateway is short of disk space and takes no files at the moment.',
  retryAfterMs: MINUTE_MS,
}
const NO_OBJECT: ReadForm = {
  kind: 'rejected',
  failure: { kind: 'invalid_json', message: 'The body is not a JSON object.' },
}
const NO_FORM: ReadForm = {
  kind: 'rejected',
  failure: { kind: 'unsupported_media_type', message: 'The body must be a form: multipart/form-data.' },
}
const MULTIPART = /^multipart\/form-data\s*(?:;|$)/i

/** Call this function in the tick of the request. It returns a promise only if it has to wait. */
export const receive = (
  { exchange, caller }: Pick<RequestContext, 'exchange' | 'caller'>,
  reads: RequestBody,
  reception: ReceiveOptions,
): Outcome | Promise<Outcome> =>
  reads.kind === 'form'
    ? receiveFiles(exchange, reads, { ...reception, caller })
    : receiveText(exchange, reads, reception.chatBody)

function receiveText(exchange: ServerExchange, reads: JsonBody, chatBody: BodyLimits): Outcome | Promise<Outcome> {
  const { bytesMax = 0 } = reads
  const limits = bytesMax > chatBody.bytesMax ? { ...chatBody, bytesMax } : chatBody
  const body = readJsonBody(exchange, limits)
  return body instanceof Promise
    ? body.then((arrived) => readHeld(reads, exchange, arrived))
    : readAs(reads, exchange, body)
}

/** A body that arrived in pieces stays in memory until its request ends, so it counts against the share until then. */
async function readHeld(reads: JsonBody, exchange: ServerExchange, body: ReadBody): Promise<Outcome> {
  const { share } = exchange
  if (body.kind === 'rejected' || !share) return readAs(reads, exchange, body)
  const taken = share.take(body.bytes, 0)
  if (taken !== 'taken') return { kind: 'rejected', failure: CROWDED[taken] }
  const release = (): Promise<void> => Promise.resolve(share.give(body.bytes))
  try {
    return { ...(await readAs(reads, exchange, body)), release }
  } catch (error) {
    await release()
    throw error
  }
}

function readAs(reads: JsonBody, exchange: ServerExchange, body: ReadBody): Outcome | Promise<Outcome> {
  if (body.kind === 'rejected') return body
  const reading = reads.read(body, exchange)
  // A synchronous result is not put off to another tick.
  if (reading instanceof Promise) {
    return reading.then((read) =>
      read.kind === 'rejected' ? orHinted(read, { reads, exchange, body }) : outcomeOf(read, body.text),
    )
  }
  return reading.kind === 'rejected' ? orHinted(reading, { reads, exchange, body }) : outcomeOf(reading, body.text)
}

type BodyAtHand = {
  readonly reads: JsonBody
  readonly exchange: ServerExchange
  readonly body: Extract<ReadBody, { kind: 'read' }>
}

type RejectedRequest = Extract<ReadClientRequest, { kind: 'rejected' }>

/** A body that was refused because of its hints is read again without them. */
function orHinted(refused: RejectedRequest, at: BodyAtHand): Outcome | Promise<Outcome> {
  const { hints } = at.reads
  return hints !== undefined && mayHaveHints(refused.failure, hints) ? readHinted(refused, at, hints) : refused
}

const hintReader = late(() => import('../formats/core/hints.ts'))

async function readHinted(
  refused: RejectedRequest,
  { reads, exchange, body }: BodyAtHand,
  fields: readonly HintField[],
): Promise<Outcome> {
  const taken = await hintReader(({ takeHints }) => takeHints(body.text, body.bytes, fields))
  if (taken.kind === 'none') return refused
  if (taken.kind === 'rejected') return taken
  const outcome = outcomeOf(await reads.read(taken, exchange), body.text)
  return outcome.kind === 'rejected' ? outcome : { ...outcome, hints: taken.hints }
}

/** Reads the headers that stand for hints, for clients that cannot send fields. */
export function withHintHeaders(exchange: ServerExchange, received: ReceivedRequest): Outcome | Promise<Outcome> {
  const provider = exchange.header('x-tollgate-provider')
  const models = exchange.header('x-tollgate-models')
  if (provider === undefined && models === undefined) return received
  return hintReader(({ readHintHeaders }): Outcome => {
    const { request, hints: stated, fingerprint } = received
    const read = readHintHeaders({ provider, models }, { hints: stated, model: request.model })
    if (read.kind === 'rejected') return read
    // A repetition with other headers is another request.
    const whole = [fingerprint, provider ?? '', models ?? ''].join('\n')
    return { ...received, hints: read.hints, fingerprint: whole }
  })
}

async function receiveFiles(
  exchange: ServerExchange,
  { rules, read }: FormBody,
  { chatBody, uploads, relay, caller }: ReceiveOptions & { readonly caller: RequestContext['caller'] | undefined },
): Promise<Outcome> {
  if (uploads.isShort) return { kind: 'rejected', failure: NO_ROOM }
  const share = exchange.notes.get('account') ?? ''
  const batch = uploads.begin(share)
  const release = (): Promise<void> => batch.delete()
  try {
    const got = await receiveForm(exchange, { batch, rules, limits: chatBody })
    if (got.kind === 'rejected') return { ...got, release }
    // Reading files takes time. It is not done for a caller who may not use the model.
    const { model } = got.form.fields
    const found = caller && typeof model === 'string' ? usableModel(relay.catalog, caller, model) : undefined
    if (found && 'message' in found) return { kind: 'rejected', failure: found, release }
    const untilMs = performance.now() + rules.readingTimeoutMs
    return { ...outcomeOf(await read(got.form, { share, untilMs }), got.fingerprint), release }
  } catch (error) {
    await release()
    throw error
  }
}

const outcomeOf = (read: ReadClientRequest, fingerprint: string): Outcome =>
  read.kind === 'rejected' ? read : { kind: 'received', request: read.request, fingerprint }

type FormReception = { readonly batch: UploadBatch; readonly rules: FormRules; readonly limits: BodyLimits }

async function receiveForm(exchange: ServerExchange, reception: FormReception): Promise<ReadForm> {
  const { rules, limits } = reception
  if (MULTIPART.test(exchange.header('content-type') ?? '')) return readForm(exchange, reception)
  const { fromJson } = rules
  if (!fromJson) return NO_FORM
  const body = await readJsonBody(exchange, limits)
  if (body.kind === 'rejected') return body
  const scan = await afterScan(body.text, body.bytes, (scanned) => scanned)
  if (scan.kind === 'rejected') return scan
  const { value } = scan
  if (typeof value !== 'object' || value === null) return NO_OBJECT
  return readJsonForm(value as Record<string, unknown>, fromJson, reception)
}
