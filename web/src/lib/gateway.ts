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

/** The events of a stream, parsed; ends with `[DONE]` or the answer. */
export async function* eventsOf(response: Response): AsyncGenerator<Record<string, unknown>, void> {
  if (!response.body) return
  let rest = ''
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + decoder.decode(part.value, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const data = /^data: ?(.*)$/.exec(line)?.[1]
      if (data === '[DONE]') return
      if (data) yield JSON.parse(data) as Record<string, unknown>
    }
  }
}
