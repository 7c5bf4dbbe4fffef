import { Slots } from '../src/lib/primitives/slots.ts'
import { deliver, hangUp } from './delivery.ts'
import type { FaultPlan } from './fault-plan.ts'
import { parseKnobText, type ParsedKnobs } from './faults.ts'
import { longBody, longText } from './length.ts'
import { splitModelId } from './models.ts'
import { inDialect, refuse, type ErrorFields, type JsonReply, type SandboxReply } from './reply.ts'
import { claimRoom } from './room.ts'
import type { SandboxCall, VendorRoute, Voice } from './route.ts'
import { Sleeper, turn } from './sleeper.ts'
import type { Stats, Visit } from './stats.ts'
import { failWith } from './vendor-failure.ts'
import { KIB } from '../src/lib/primitives/units.ts'

/** Larger JSON takes a while to read and to answer. */
const LARGE_BYTES = 64 * KIB
/**
 * Large requests run one at a time, with small ones in between. In parallel they would be no faster and take more
 * memory.
 */
const lane = new Slots(1)

async function inLane<T>({ headers }: Request, work: () => T | Promise<T>): Promise<T> {
  const isForm = headers.get('content-type')?.startsWith('multipart/')
  if (isForm || Number(headers.get('content-length') ?? 0) <= LARGE_BYTES) return work()
  return lane.run(async () => {
    await turn()
    return work()
  })
}

/** The state that all requests of one sandbox share. */
export type SandboxState = { paceMs: number; plan: FaultPlan; stats: Stats }

type RoutedRequest = { route: VendorRoute; tail: string; requestId: string }

export type Body =
  | { kind: 'read'; value: unknown }
  | { kind: 'unreadable' }
  | { kind: 'no_room' }
  | { kind: 'long'; complaint: ErrorFields }

/** nginx's status for a client that hung up before its answer. Nobody reads it. */
const CLIENT_CLOSED_REQUEST = 499

/** Handles one request to the vendor: reads it, delays it, fails on demand, and answers. */
export async function exchange(request: Request, addressed: RoutedRequest, shared: SandboxState): Promise<Response> {
  const { route } = addressed
  const visit = shared.stats.begin(`${route.method} ${route.path}`)
  const leave = claimRoom(request.headers)
  try {
    const body: Body = leave ? await inLane(request, () => readBody(request)) : { kind: 'no_room' }
    return await respond(request, { ...addressed, body }, { ...shared, visit })
  } catch (error) {
    if (request.signal.aborted) return gone(visit)
    visit.end('cut')
    throw error
  } finally {
    leave?.()
  }
}

/** The answer to a client that has left. */
function gone(visit: Visit): Response {
  visit.end('aborted')
  return new Response(null, { status: CLIENT_CLOSED_REQUEST })
}

type ArrivedRequest = RoutedRequest & { body: Body }
type ServeContext = SandboxState & { visit: Visit }

async function respond(
  request: Request,
  { route, tail, requestId, body }: ArrivedRequest,
  { paceMs, plan, stats, visit }: ServeContext,
): Promise<Response> {
  const { headers, signal } = request
  const modelId = route.modelIn ? route.modelIn(tail) : modelOf(body)
  if (modelId !== '') stats.countModel(modelId)
  const { origin, searchParams: query } = new URL(request.url)
  const steering = route.steer?.({ body: body.kind === 'read' ? body.value : undefined, tail, query })
  const own = together(steering?.parsed, knobsOf(headers, modelId))
  const knobs = own.kind === 'knobs' ? plan.draw(own.knobs, { steps: route.steps, scope: steering?.scope }) : {}
  if (knobs.delayMs !== undefined) await new Sleeper(signal).sleep(knobs.delayMs)
  if (signal.aborted) return gone(visit)
  if (knobs.acceptThenClose || knobs.cutAfterBytes === 0) return hangUp(visit)
  const given = { body, tail, query, faults: knobs, headers, origin, signal }
  const plain = own.kind === 'refused' ? refuseKnobs(own.message) : await inLane(request, () => replyTo(route, given))
  if (knobs.answerLost) return hangUp(visit)
  const { errors, voice } = route
  const reply = plain.kind === 'json' ? inDialect(plain, errors) : plain
  const pace = knobs.paceMs ?? paceMs
  return deliver(reply, { faults: knobs, paceMs: pace, requestId, signal, visit, errors, voice })
}

/** Reads a body, which is JSON or a form. A method without a body reads as undefined. */
export async function readBody(request: Request): Promise<Body> {
  if (request.body === null) return { kind: 'read', value: undefined }
  const long = longBody(request.headers)
  if (long) return { kind: 'long', complaint: long }
  try {
    if (request.headers.get('content-type')?.startsWith('multipart/form-data')) {
      return { kind: 'read', value: fieldsOf(await request.formData()) }
    }
    return { kind: 'read', value: await request.json() }
  } catch {
    // The body is not JSON, or the client hung up while sending it. The signal tells which.
    return { kind: 'unreadable' }
  }
}

/** A form as an object. Repeated fields and list fields become lists. */
function fieldsOf(form: Awaited<ReturnType<Request['formData']>>): Record<string, unknown> {
  const names = [...new Set(form.keys())]
  return Object.fromEntries(
    names.map((name) => {
      const all = form.getAll(name)
      return [name, all.length > 1 || name.endsWith('[]') ? all : all[0]]
    }),
  )
}

export function refuseBody(voice: Voice = { refuse }): JsonReply {
  return voice.refuse(400, { message: 'We could not parse the JSON body of your request.', code: 'invalid_json' })
}

type RequestInput = Omit<Required<SandboxCall>, 'body'> & { body: Body }

function replyTo(route: VendorRoute, { body, ...given }: RequestInput): SandboxReply | Promise<SandboxReply> {
  const { faults } = given
  if (faults.status !== undefined) return failWith(faults.status, faults.retryAfter, route.voice)
  if (body.kind === 'no_room') return failWith(503, undefined, route.voice)
  if (body.kind === 'unreadable') return refuseBody(route.voice)
  const long = body.kind === 'long' ? body.complaint : longText(body.value)
  if (long) return (route.voice ?? { refuse }).refuse(400, long)
  return route.answer({ body: body.kind === 'read' ? body.value : undefined, ...given })
}

function modelOf(body: Body): string {
  const value = body.kind === 'read' ? body.value : undefined
  if (typeof value !== 'object' || value === null || !('model' in value)) return ''
  return typeof value.model === 'string' ? value.model : ''
}

function knobsOf(headers: Headers, modelId: string): ParsedKnobs {
  const pace = headers.get('x-sandbox-pace-ms')
  const parts = [splitModelId(modelId).knobs, headers.get('x-sandbox-fault') ?? '', pace === null ? '' : `pace=${pace}`]
  const text = parts.filter((part) => part !== '').join(',')
  return text === '' ? { kind: 'knobs', knobs: {} } : parseKnobText(text)
}

function together(steered: ParsedKnobs | undefined, own: ParsedKnobs): ParsedKnobs {
  if (steered?.kind !== 'knobs' || own.kind !== 'knobs') return steered?.kind === 'refused' ? steered : own
  return { kind: 'knobs', knobs: { ...steered.knobs, ...own.knobs } }
}

function refuseKnobs(message: string): JsonReply {
  return refuse(400, { message, code: 'invalid_fault' })
}
