/** What clients ask of responses that are there already. None of it costs anything. */
import type { Caller } from '../domain/account.ts'
import type { Failure } from '../domain/failure.ts'
import { followKept, inputItem, showKept } from '../formats/responses/conversation.ts'
import { suitableModel } from '../relay/admit.ts'
import type { Relay } from '../relay/context.ts'
import { recall } from '../relay/conversation.ts'
import { countInput } from '../relay/count-input.ts'
import { readers } from './lazy-parsers.ts'
import type { ReplyEvents } from './stream-reply.ts'

export type StateAnswer =
  | { readonly kind: 'body'; readonly body: object }
  /** The same as JSON. */
  | { readonly kind: 'text'; readonly text: string }
  /** With its size, where it is there already. */
  | { readonly kind: 'stream'; readonly events: ReplyEvents; readonly bytes?: number }
  | { readonly kind: 'failure'; readonly failure: Failure }

/** A request for one response. */
export type Ask = {
  readonly relay: Relay
  readonly caller: Caller
  readonly method: string
  readonly id: string
  readonly query: URLSearchParams
  /** The address of this gateway as its client can reach it; empty where that is not known. */
  readonly linkBase: string
}

export type StateRoute = {
  readonly methods: readonly string[]
  readonly id: string
  readonly answer: (ask: Ask) => Promise<StateAnswer>
  /** How large the answer can be, where it can be large. */
  readonly bytes?: (ask: Ask) => Promise<number>
}

type StateRouteMatch = Omit<StateRoute, 'id'> & { readonly path: string }

/** Everything that is asked of one response; `{id}` is its id. */
export const stateRoutes: readonly StateRouteMatch[] = [
  {
    path: '/v1/responses/{id}',
    methods: ['GET', 'HEAD', 'DELETE'],
    answer: (ask) => (ask.method === 'DELETE' ? remove(ask) : show(ask)),
  },
  {
    path: '/v1/responses/{id}/input_items',
    methods: ['GET', 'HEAD'],
    bytes: (ask) => ask.relay.turns.sizeOf(scopeOf(ask.caller), ask.id),
    answer: (ask) => listInput(ask),
  },
  { path: '/v1/responses/{id}/cancel', methods: ['POST'], answer: (ask) => cancel(ask) },
]

/** -1 is before the first. */
const EVENT_NUMBER = /^(?:-1|\d{1,15})$/
const PATH = /^\/v1\/responses\/([^/]+)(\/[a-z_]+)?$/

/** The route of a path below `/v1/responses/`. */
export function stateRoute(path: string): StateRoute | undefined {
  const [, id, part = ''] = PATH.exec(path) ?? []
  const route = id === undefined ? undefined : stateRoutes.find((one) => one.path === `/v1/responses/{id}${part}`)
  return route && id !== undefined ? { ...route, id } : undefined
}

const failed = (failure: Failure): Extract<StateAnswer, { kind: 'failure' }> => ({ kind: 'failure', failure })
const invalid = (param: string, rule: string): StateAnswer =>
  failed({ kind: 'invalid_value', message: `Invalid '${param}': ${rule}.`, param })

/** The same words whether it never was, was deleted, was not stored, or is somebody else's. */
const NOT_FOUND = failed({ kind: 'not_found', message: 'There is no response with this id.' })

const scopeOf = ({ account }: Caller): { accountId: string } => ({ accountId: account.id })

const find = ({ relay, caller, id }: Ask): ReturnType<Relay['turns']['find']> => relay.turns.find(scopeOf(caller), id)

/** `include`, `include[]` or `include[0]`, as the SDKs write lists. */
const includeOf = (query: URLSearchParams): string[] =>
  [...query].flatMap(([name, value]) => (/^include(?:\[\d*\])?$/.test(name) ? [value] : []))

async function show(ask: Ask): Promise<StateAnswer> {
  const { relay, caller, query, id } = ask
  const context = await find(ask)
  if (!context) return NOT_FOUND
  const include = includeOf(query)
  if (query.get('stream') !== 'true') return { kind: 'body', body: showKept(context, include) }
  const startingAfter = query.get('starting_after') ?? '-1'
  const after = Number(startingAfter)
  if (!EVENT_NUMBER.test(startingAfter)) return invalid('starting_after', 'must be the number of an event')
  const run = context.state === 'running' ? relay.backgrounds.find(scopeOf(caller), id) : undefined
  if (run) return { kind: 'stream', events: run.follow(after) }
  // It may have ended since it was read.
  const ended = context.state === 'running' ? await find(ask) : context
  if (!ended) return NOT_FOUND
  const text = followKept(ended, { after, include })
  if (text === undefined) return invalid('stream', 'only responses made with background: true can be followed')
  return { kind: 'stream', events: once(text), bytes: text.length }
}

/** A stream that is there already. */
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

async function remove({ relay, caller, id }: Ask): Promise<StateAnswer> {
  const scope = scopeOf(caller)
  await relay.backgrounds.find(scope, id)?.cancel('forgotten')
  const deleted = await relay.turns.delete(scope, id)
  return deleted ? { kind: 'body', body: { id, object: 'response', deleted: true } } : NOT_FOUND
}

async function cancel(ask: Ask): Promise<StateAnswer> {
  const { relay, caller, id } = ask
  const context = await find(ask)
  if (!context) return NOT_FOUND
  const shown = showKept(context, []) as { background?: unknown }
  if (shown.background !== true) {
    const message = 'Only responses made with background: true can be cancelled.'
    return failed({ kind: 'invalid_value', message, param: 'response_id' })
  }
  const run = relay.backgrounds.find(scopeOf(caller), id)
  if (!run && context.state === 'ended') return { kind: 'body', body: shown }
  await run?.cancel('stopped')
  const now = await find(ask)
  return now ? { kind: 'body', body: showKept(now, []) } : NOT_FOUND
}

const LIMIT_MAX = 100
const LIMIT_DEFAULT = 20

async function listInput(ask: Ask): Promise<StateAnswer> {
  const { query } = ask
  const limit = query.has('limit') ? Number(query.get('limit')) : LIMIT_DEFAULT
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) {
    return invalid('limit', `must be a whole number from 1 to ${LIMIT_MAX}`)
  }
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') return invalid('order', "must be 'asc' or 'desc'")
  const { relay, caller, id } = ask
  const page = await relay.turns.inputPage(scopeOf(caller), id, {
    order,
    limit,
    after: query.get('after') ?? undefined,
  })
  if (page.kind === 'no_such_item') return invalid('after', 'there is no item with this id')
  if (page.kind !== 'page') return NOT_FOUND
  const { items, hasMore } = page
  const data = items.map(({ json }) => inputItem(json, includeOf(query))).join(',')
  const ends = { first_id: items[0]?.id ?? null, last_id: items.at(-1)?.id ?? null, has_more: hasMore }
  return { kind: 'text', text: `{"object":"list","data":[${data}],${JSON.stringify(ends).slice(1)}` }
}

type ReadBytes = { readonly text: string; readonly bytes: number }

/**
 * `POST /v1/responses/input_tokens`: how many tokens a request's input has, counted by ourselves. `spend` is told how
 * many bytes of earlier turns are counted with it.
 */
export async function countResponse(
  relay: Relay,
  caller: Caller,
  { body, spend }: { readonly body: ReadBytes; readonly spend: (bytes: number) => void },
): Promise<Exclude<StateAnswer, { kind: 'text' | 'stream' }>> {
  const read = await readers.responses(({ readCountedClient }) => readCountedClient(body.text, body.bytes))
  if (read.kind === 'rejected') return failed(read.failure)
  const { request } = read
  const model = request.model === '' ? undefined : suitableModel(relay.catalog, caller, request)
  if (model && 'message' in model) return failed(model)
  const untold = await recall(relay.turns, scopeOf(caller), request)
  if (untold) return failed(untold)
  spend(request.textBytes - body.bytes)
  const tokens = await countInput(relay, request, { accountId: caller.account.id, model })
  return { kind: 'body', body: { object: 'response.input_tokens', input_tokens: tokens } }
}
