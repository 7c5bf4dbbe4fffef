/**
 * The only code by which the gateway calls out. It follows no redirect (a credential must not travel on), asks for
 * plain bytes (a meter cannot read gzip) and owns the time limits that `fetch` would otherwise choose.
 */
export type OutboundRequest = {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

export type OutboundResult =
  | { readonly kind: 'response'; readonly response: Response }
  | { readonly kind: 'network'; readonly message: string }

/** Sends a request. A connection that fails, or is aborted, is a value; the response body is the caller's to read. */
export async function send({ url, method, headers, body, signal }: OutboundRequest): Promise<OutboundResult> {
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      redirect: 'manual',
      signal,
      // Bun's own limit of five minutes would cut long answers; the callers have their own.
      timeout: false,
      ...(body === undefined ? {} : { body }),
    })
    return { kind: 'response', response }
  } catch (error) {
    return { kind: 'network', message: describe(error) }
  }
}

/** Names a network error without the address, which belongs to the operator. */
export function describe(error: unknown): string {
  // An aborted fetch carries a number as its code.
  const { code, name } = error as { code?: string | number; name?: string }
  return typeof code === 'string' ? code : (name ?? 'network error')
}

/** Reads a body as text up to `bytesMax`. Undefined when it is larger, or breaks off. */
export async function readText(response: Response, bytesMax: number): Promise<string | undefined> {
  const declared = Number(response.headers.get('content-length') ?? 0)
  if (declared > bytesMax) {
    await response.body?.cancel()
    return undefined
  }
  if (declared > 0) return response.text().catch(() => undefined)
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > bytesMax) return undefined
      text += decoder.decode(chunk, { stream: true })
    }
  } catch {
    return undefined // The connection broke: the caller cannot use half a reply.
  }
  return text + decoder.decode()
}
