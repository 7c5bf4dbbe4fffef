/** The public API, called with a key or with the token of the playground. */
import { ApiError, failureOf, type ErrorAnswer } from './api.ts'

const root = new URL('../v1/', document.baseURI)

export type ListedModel = { readonly id: string; readonly endpoints: readonly string[] }

/** The source of tokens. After a restart the gateway no longer knows the old token, which is `gone`. */
export type TokenSource = (gone?: string) => Promise<string>

export async function callGateway(
  from: string | TokenSource,
  route: string,
  init: RequestInit = {},
): Promise<Response> {
  if (typeof from === 'string') return callOnce(from, route, init)
  const token = await from()
  try {
    return await callOnce(token, route, init)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_api_key') throw error
    return callOnce(await from(token), route, init)
  }
}

async function callOnce(token: string, route: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${token}`)
  const response = await fetch(new URL(route, root), { ...init, headers, credentials: 'omit' })
  if (response.ok) return response
  throw failureOf(response, await response.text())
}

export const postGateway = (
  from: string | TokenSource,
  route: string,
  body: unknown,
  init: RequestInit = {},
): Promise<Response> =>
  callGateway(from, route, {
    ...init,
    method: 'POST',
    headers: { ...(init.headers as Record<string, string> | undefined), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** An error that a stream sent in place of its rest. */
export const failureIn = ({ message = '', code = '', param }: ErrorAnswer, { status, headers }: Response): ApiError =>
  new ApiError(message, {
    status,
    code,
    param: param ?? undefined,
    requestId: headers.get('x-request-id') ?? undefined,
  })

/** The models that a key may use. */
export async function modelsFor(token: string): Promise<readonly ListedModel[]> {
  const response = await callGateway(token, 'models')
  return ((await response.json()) as { data: readonly ListedModel[] }).data
}
