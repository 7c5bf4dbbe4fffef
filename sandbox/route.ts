import type { Knobs, ParsedKnobs, FaultStep } from './faults.ts'
import { refuse, type ErrorFields, type ErrorDialect, type JsonReply, type SandboxReply } from './reply.ts'
import { decodeLoosely } from './uri.ts'

export type SandboxCall = {
  /** Parsed JSON. Undefined for methods without a body. */
  body: unknown
  /** The decoded text in place of the `*` in the route's path. */
  tail: string
  query?: URLSearchParams
  faults: Knobs
  headers?: Headers
  /** The origin of the request's URL. */
  origin: string
  /** Aborted if the client leaves. */
  signal?: AbortSignal
}

/** Writes the errors of a dialect other than OpenAI's. */
export type Voice = { refuse(status: number, complaint: ErrorFields, retryAfterSeconds?: number): JsonReply }

/** `path` is exact, or has one `*` for any text. Model ids contain slashes, which clients send raw or encoded. */
type Address = { method: 'GET' | 'POST' | 'DELETE'; path: string }

/** A route of a modality. Its requests are counted, and fail on demand. */
export type VendorRoute = Address & {
  kind: 'vendor'
  answer: (call: SandboxCall) => SandboxReply | Promise<SandboxReply>
  voice?: Voice
  /** The model in the path, for dialects that have it there. */
  modelIn?: (tail: string) => string
  /** Undefined: OpenAI's. */
  errors?: ErrorDialect
  /** The steps whose knobs work on the route. */
  steps?: readonly FaultStep[]
  /** Knobs from the requested resource, or from an earlier request of the task. */
  steer?: (asked: RequestTarget) => FaultSteering
  /** The route needs no key. */
  isOpen?: true
}

export type RequestTarget = Pick<SandboxCall, 'body' | 'tail'> & { query: URLSearchParams }
export type FaultSteering = { parsed: ParsedKnobs; scope?: string }

/** A route that controls or watches the sandbox. It never fails on demand and is not counted. */
export type ControlRoute = Address & { kind: 'control'; answer: (body: unknown) => JsonReply }

export type SandboxRoute = VendorRoute | ControlRoute
export type Match = { kind: 'found'; route: SandboxRoute; tail: string } | { kind: 'none'; reply: JsonReply }

export function matchRoute(routes: readonly SandboxRoute[], method: string, path: string): Match {
  let isKnownPath = false
  for (const route of routes) {
    const tail = tailOf(route.path, path)
    if (tail === undefined) continue
    if (route.method === method) return { kind: 'found', route, tail }
    isKnownPath = true
  }
  const message = `Invalid URL (${method} ${path})`
  if (isKnownPath) return { kind: 'none', reply: refuse(405, { message, code: 'method_not_allowed' }) }
  return { kind: 'none', reply: refuse(404, { message, code: 'not_found' }) }
}

function tailOf(pattern: string, path: string): string | undefined {
  const star = pattern.indexOf('*')
  if (star === -1) return pattern === path ? '' : undefined
  const [prefix, suffix] = [pattern.slice(0, star), pattern.slice(star + 1)]
  if (!path.startsWith(prefix) || !path.endsWith(suffix) || path.length <= prefix.length + suffix.length)
    return undefined
  return decodeLoosely(path.slice(prefix.length, path.length - suffix.length))
}
