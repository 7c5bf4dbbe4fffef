/** The public API, called as any client calls it: with a key, or with the token of the playground. */
import { failureOf } from './api.ts'

const root = new URL('../v1/', document.baseURI)

export type ListedModel = { readonly id: string; readonly endpoints: readonly string[] }

export async function callGateway(token: string, route: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${token}`)
  const response = await fetch(new URL(route, root), { ...init, headers, credentials: 'omit' })
  if (response.ok) return response
  throw failureOf(response, await response.text())
}

export const postGateway = (token: string, route: string, body: unknown, init: RequestInit = {}): Promise<Response> =>
  callGateway(token, route, {
    ...init,
    method: 'POST',
    headers: { ...(init.headers as Record<string, string> | undefined), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** The models that a key may use. */
export async function modelsFor(token: string): Promise<readonly ListedModel[]> {
  const response = await callGateway(token, 'models')
  return ((await response.json()) as { data: readonly ListedModel[] }).data
}
