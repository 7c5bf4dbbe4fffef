/** Routes as data: the right that each needs, its input and its answer. The OpenAPI document is generated from them. */
import type { z } from 'zod'
import type { Result } from '../admin/operations.ts'
import type { ResourceName } from '../admin/refusals.ts'
import type { LocalizedMessage } from '../lib/primitives/localized-message.ts'
import type { RouteAccess, Principal } from './access.ts'
import type { ConsoleContext } from './context.ts'
import { sayConsoleRefusal } from './refusals.ts'
import type { Tail } from './tail.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** What a handler receives. */
export type RouteContext<P = Record<string, string>, Q = unknown, B = unknown> = {
  readonly context: ConsoleContext
  readonly principal: Principal
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly from: { readonly address: string; readonly agent: string; readonly requestId: string }
  /** Whether the sender still has the rights that the request began with. Long-lived answers check it. */
  readonly stands: () => boolean
  /** Runs an operation in the sender's name, and records it in the audit log. */
  readonly operate: (name: string, input: object) => Promise<Result>
}

export type Problem = {
  readonly kind: 'problem'
  readonly status: number
  readonly code: string
  readonly said: LocalizedMessage
  readonly param?: string | undefined
  readonly retryAfterMs?: number
  /** The methods of a path, if the requested one is not among them. */
  readonly allow?: readonly string[]
}

export type RouteReply =
  | { readonly kind: 'json'; readonly value: unknown; readonly cookie?: string }
  | { readonly kind: 'file'; readonly contentType: string; readonly name: string; readonly text: string }
  /** Server-sent events, each as JSON of the shape `answer`. The receiver must begin the tail or close it. */
  | { readonly kind: 'events'; readonly tail: Tail; readonly first: object }
  | Problem

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & ParamsOf<Rest>
  : Readonly<Record<never, string>>

export type ConsoleRoute = {
  readonly method: Method
  /** Below `/admin/v1`: `/accounts/{account}/keys`. */
  readonly path: string
  readonly access: RouteAccess
  readonly summary: string
  readonly query: z.ZodType | undefined
  readonly body: z.ZodType | undefined
  /** The shape of the answer. For `events`, the shape of each event. */
  readonly answer: z.ZodType
  readonly answers: 'once' | 'events'
  readonly run: (call: never) => RouteReply | Promise<RouteReply>
}

type Table<Path extends string, Q extends z.ZodType, B extends z.ZodType> = {
  readonly access: RouteAccess
  readonly summary: string
  readonly query?: Q
  readonly body?: B
  readonly answer: z.ZodType
  readonly answers?: ConsoleRoute['answers']
  readonly run: (call: RouteContext<ParamsOf<Path>, z.infer<Q>, z.infer<B>>) => RouteReply | Promise<RouteReply>
}

/** Makes a route from its table. */
export function route<Path extends string, Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType>(
  method: Method,
  path: Path,
  table: Table<Path, Q, B>,
): ConsoleRoute {
  const { query, body, answers = 'once', ...rest } = table
  return { method, path, query, body, answers, ...rest }
}

/** Whether the sender may see vendors and costs. An operator who views an account as a member may not. */
export const isOperator = ({ principal }: Pick<RouteContext, 'principal'>): boolean =>
  principal.kind !== 'nobody' && principal.role === 'operator'

export const json = (value: unknown, cookie?: string): RouteReply =>
  cookie === undefined ? { kind: 'json', value } : { kind: 'json', value, cookie }

type More = Pick<Problem, 'param' | 'retryAfterMs' | 'allow'>

export const problem = (status: number, code: string, said: LocalizedMessage, more: More = {}): Problem => ({
  ...more,
  kind: 'problem',
  status,
  code,
  said,
})

export const missing = (what: ResourceName): Problem =>
  problem(404, 'not_found', sayConsoleRefusal('no_such', { what }))

const statusOf = {
  invalid_input: [400, 'invalid_value'],
  not_found: [404, 'not_found'],
  conflict: [409, 'conflict'],
  declared: [409, 'declared'],
  failed: [502, 'upstream_error'],
} as const

/** An operation's result as an answer. `show` turns its value into the answer's value. */
export function answer<V>(result: Result, show: (value: V) => unknown): RouteReply {
  if (result.ok) return json(show(result.value as V))
  const [status, code] = statusOf[result.code]
  const { message, reason = code, facts = {}, param } = result
  const sentence = `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`
  return problem(status, code, { reason, facts, message: sentence }, { param })
}
