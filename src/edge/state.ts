/** Requests for stored responses. They are free. */
import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import { followKept, inputItem, showKept } from '../formats/responses/conversation.ts'
import type { RelayPort } from '../relay/port.ts'
import type { ReadClientRequest } from './request-body.ts'
import type { ReplyEvents } from './stream-reply.ts'

export type StateAnswer =
  | { readonly kind: 'body'; readonly body: object }
  /** JSON text. */
  | { readonly kind: 'text'; readonly text: string }
  /** `bytes` is the size of a stream that is complete. A `waiting` stream may send nothing for a long time. */
  | { readonly kind: 'stream'; readonly events: ReplyEvents; readonly bytes?: number; readonly begun?: 'waiting' }
  | { readonly kind: 'failure'; readonly failure: Failure }

/** A request for one response or one task. */
export type StateRequest = {
  readonly relay: RelayPort
  readonly caller: Caller
  /** Empty if the path has none. */
  readonly id: string
  readonly query: URLSearchParams
  /** The address of this gateway as the client reaches it. Empty if it is unknown. */
  readonly linkBase: string
}

export type StateHandler = {
  readonly handler: (request: StateRequest) => Promise<StateAnswer>
  /** The upper bound of the answer's size, for answers that can be large. */
  readonly bytes?: (request: StateRequest) => Promise<number>
}

/** The number -1 means before the first event. */
const EVENT_NUMBER = /^(?:-1|\d{1,15})$/

type StateFailure = Extract<StateAnswer, { kind: 'failure' }>

export const stateFailure = (failure: Failure): StateFailure => ({ kind: 'failure', failure })
export const invalidParameter = (param: string, rule: string): StateFailure =>
  stateFailure({ kind: 'invalid_value', message: `Invalid '${param}': ${rule}.`, param })

export const listBounds = { limitMax: 100, limitDefault: 20 }

type ListPage = {
  readonly kind: 'page'
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly after: string | undefined
}

/** Reads the page that a query asks for, in the parameters of OpenAI's lists. */
export function listPageOf(query: URLSearchParams): ListPage | StateFailure {
  const { limitMax, limitDefault } = listBounds
  const limit = query.has('limit') ? Number(query.get('limit')) : limitDefault
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    return invalidParameter('limit', `must be a whole number from 1 to ${limitMax}`)
  }
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') return invalidParameter('order', "must be 'asc' or 'desc'")
  return { kind: 'page', limit, order, after: query.get('after') ?? undefined }
}

/** The message is the same for a response that never existed, was deleted, was not stored, or is another account's. */
const NOT_FOUND = stateFailure({ kind: 'not_found', message: 'There is no response with this id.' })

const scopeOf = ({ account }: Caller): { accountId: string } => ({ accountId: account.id })

const find = ({ relay, caller, id }: StateRequest): ReturnType<RelayPort['turns']['find']> =>
  relay.turns.find(scopeOf(caller), id)

/** Reads `include`, `include[]` or `include[0]`, which are the ways in which SDKs write lists. */
const includeOf = (query: URLSearchParams): string[] =>
  [...query].flatMap(([name, value]) => (/^include(?:\[\d*\])?$/.test(name) ? [value] : []))

export async function showResponse(request: StateRequest): Promise<StateAnswer> {
  const { relay, caller, query, id } = request
  const context = await find(request)
  if (!context) return NOT_FOUND
  const include = includeOf(query)
  if (query.get('stream') !== 'true') return { kind: 'body', body: showKept(context, include) }
  const startingAfter = query.get('starting_after') ?? '-1'
  const after = Number(startingAfter)
  if (!EVENT_NUMBER.test(startingAfter)) return invalidParameter('starting_after', 'must be the number of an event')
  const run = context.state === 'running' ? relay.backgrounds.find(scopeOf(caller), id) : undefined
  if (run) return { kind: 'stream', events: run.follow(after) }
  const endOf = context.state === 'running' ? relay.turns.remote : undefined
  if (endOf) {
    const text = async (): Promise<string | undefined> => {
      const ended = await find(request)
      // One that is being deleted has no end.
      return ended?.state === 'ended' ? followKept(ended, { after, include }) : undefined
    }
    return { kind: 'stream', events: afterEnd((ended) => endOf.onEnd(id, ended), text), begun: 'waiting' }
  }
  // The response may have ended since the first lookup.
  const ended = context.state === 'running' ? await find(request) : context
  if (!ended) return NOT_FOUND
  const text = followKept(ended, { after, include })
  if (text === undefined) return invalidParameter('stream', 'only responses made with background: true can be followed')
  return { kind: 'stream', events: once(text), bytes: text.length }
}

/** A stream of text that exists already. */
function once(text: string): ReplyEvents {
  let isEnded = false
  return {
    get isEnded() {
      return isEnded
    },
    next: () => {
      if (isEnded) return Promise.resolve(undefined)
      isEnded = true
      return Promise.resolve(text)
    },
    close: () => Promise.resolve(),
  }
}

/** The events of a response that another instance makes. They come at its end, all at once. */
function afterEnd(watch: (ended: () => void) => () => void, read: () => Promise<string | undefined>): ReplyEvents {
  const { promise, resolve } = Promise.withResolvers<void>()
  const leave = watch(resolve)
  let state: 'waiting' | 'left' | 'ended' | 'deleted' = 'waiting'
  return {
    get isEnded() {
      return state === 'ended'
    },
    get isBroken() {
      return state === 'deleted'
    },
    next: async () => {
      await promise
      if (state !== 'waiting') return undefined
      const text = await read()
      state = text === undefined ? 'deleted' : 'ended'
      return text
    },
    close: () => {
      if (state === 'waiting') state = 'left'
      leave()
      resolve()
      return Promise.resolve()
    },
  }
}

export async function deleteResponse({ relay, caller, id }: StateRequest): Promise<StateAnswer> {
  const scope = scopeOf(caller)
  await relay.backgrounds.cancel(scope, id, 'forgotten')
  const deleted = await relay.turns.delete(scope, id)
  return deleted ? { kind: 'body', body: { id, object: 'response', deleted: true } } : NOT_FOUND
}

export async function cancelResponse(request: StateRequest): Promise<StateAnswer> {
  const { relay, caller, id } = request
  const context = await find(request)
  if (!context) return NOT_FOUND
  const shown = showKept(context, []) as { background?: unknown }
  if (shown.background !== true) {
    const message = 'Only responses made with background: true can be cancelled.'
    return stateFailure({ kind: 'invalid_value', message, param: 'response_id' })
  }
  const scope = scopeOf(caller)
  if (context.state === 'ended' && !relay.backgrounds.find(scope, id)) return { kind: 'body', body: shown }
  await relay.backgrounds.cancel(scope, id, 'stopped')
  const now = await find(request)
  return now ? { kind: 'body', body: showKept(now, []) } : NOT_FOUND
}

export async function listInputItems({ query, relay, caller, id }: StateRequest): Promise<StateAnswer> {
  const wanted = listPageOf(query)
  if (wanted.kind === 'failure') return wanted
  const { limit, order, after } = wanted
  const page = await relay.turns.inputPage(scopeOf(caller), id, { order, limit, after })
  if (page.kind === 'no_such_item') return invalidParameter('after', 'there is no item with this id')
  if (page.kind !== 'page') return NOT_FOUND
  const { items, hasMore } = page
  const data = items.map(({ json }) => inputItem(json, includeOf(query))).join(',')
  const ends = { first_id: items[0]?.id ?? null, last_id: items.at(-1)?.id ?? null, has_more: hasMore }
  return { kind: 'text', text: `{"object":"list","data":[${data}],${JSON.stringify(ends).slice(1)}` }
}

/** The size of all input of a response, known before it is read. */
export const inputBytes = ({ relay, caller, id }: StateRequest): Promise<number> =>
  relay.turns.sizeOf(scopeOf(caller), id)

/**
 * Answers `POST /v1/responses/input_tokens`: the number of input tokens by the gateway's own count. `spend` gets the
 * bytes of earlier turns that are counted too.
 */
export async function countResponse(
  relay: RelayPort,
  caller: Caller,
  { read, bytes, spend }: CountedBody,
): Promise<Exclude<StateAnswer, { kind: 'text' | 'stream' }>> {
  if (read.kind === 'rejected') return stateFailure(read.failure)
  const { request } = read
  const onRecalled = (): void => spend(request.textBytes - bytes)
  const counted = await relay.count(caller, request, { model: 'optional', onRecalled })
  if (typeof counted !== 'number') return stateFailure(counted)
  return { kind: 'body', body: { object: 'response.input_tokens', input_tokens: counted } }
}

type CountedBody = {
  readonly read: ReadClientRequest
  readonly bytes: number
  readonly spend: (bytes: number) => void
}
