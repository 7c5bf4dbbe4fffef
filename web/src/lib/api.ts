/** The client of the console's API. Its URLs are relative to the console, so both may be behind a path prefix. */
import type { LocalizedMessage } from './i18n/said.ts'
import { isAttended } from './presence.ts'

const root = new URL('../admin/v1/', document.baseURI)

type ApiFacts = Omit<ApiError, keyof Error>

/** A failure that the API reports. */
export class ApiError extends Error {
  declare readonly status: number
  declare readonly code: string
  declare readonly param?: string | undefined
  /** The facts of the message, as data. */
  declare readonly said?: LocalizedMessage
  declare readonly requestId?: string | undefined
  declare readonly retryAfterSeconds?: number | undefined

  constructor(message: string, facts: ApiFacts) {
    super(message)
    Object.assign(this, facts)
  }
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** The URL of a route. Encode the parts of its path with `path`. */
export function addressOf(route: string, query: Query = {}): URL {
  const url = new URL(route.replace(/^\//, ''), root)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value))
  }
  return url
}

/** Encodes a part of a path. Model ids may contain slashes. */
export const path = (strings: TemplateStringsArray, ...values: readonly string[]): string =>
  String.raw({ raw: strings }, ...values.map(encodeURIComponent))

/** Requests of a page that nobody uses must not keep the session alive. */
const presence = (): Record<string, string> => (isAttended() ? {} : { 'x-tollgate-unattended': '1' })

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** A streamed answer. Its events are read from its body. */
export async function openEvents(route: string, query: Query, signal: AbortSignal): Promise<Response> {
  const headers = { accept: 'text/event-stream', ...presence() }
  const options = { credentials: 'same-origin', headers, signal, cache: 'no-store' } as const
  const response = await fetch(addressOf(route, query), options).catch((error: unknown) => {
    throw new ApiError(String(error), unreachable)
  })
  if (response.ok) return response
  throw failureOf(response, await response.text())
}

async function send<T>(method: Method, url: URL, body?: unknown): Promise<T> {
  const response = await fetch(url, {
    method,
    credentials: 'same-origin',
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...presence(),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new ApiError(String(error), unreachable)
  })
  const text = await response.text()
  if (response.ok) return JSON.parse(text) as T
  throw failureOf(response, text)
}

const unreachable = { status: 0, code: 'unreachable' }

export type ErrorAnswer = LocalizedMessage & {
  readonly message?: string
  readonly code?: string
  readonly param?: string | null
}
type Envelope = { readonly error?: ErrorAnswer }

/** Reads a failed answer as an error, including the answer of a proxy. */
export function failureOf(response: Response, text: string): ApiError {
  let envelope: Envelope = {}
  try {
    envelope = JSON.parse(text) as Envelope
  } catch {
    // The body is not from the gateway, so only the status is used.
  }
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
  const { message, code, param, reason, facts } = envelope.error ?? {}
  return new ApiError(message ?? `HTTP ${response.status}`, {
    status: response.status,
    code: code ?? `http_${response.status}`,
    param: param ?? undefined,
    said: { reason, facts },
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: Number.isFinite(wait) ? wait : undefined,
  })
}

export const api = {
  get: <T>(route: string, query?: Query): Promise<T> => send<T>('GET', addressOf(route, query)),
  post: <T>(route: string, body: unknown = {}): Promise<T> => send<T>('POST', addressOf(route), body),
  patch: <T>(route: string, body: unknown): Promise<T> => send<T>('PATCH', addressOf(route), body),
  put: <T>(route: string, body: unknown): Promise<T> => send<T>('PUT', addressOf(route), body),
  remove: <T>(route: string): Promise<T> => send<T>('DELETE', addressOf(route)),
}

/** A page of a list. */
export type Page<T> = { readonly data: readonly T[]; readonly next_cursor: string | null }

export const isStatus = (error: unknown, status: number): boolean =>
  error instanceof ApiError && error.status === status
