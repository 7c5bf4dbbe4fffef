import type { Failure } from '../domain/failure.ts'

export type ReadBody =
  | { readonly kind: 'read'; readonly text: string; readonly bytes: number }
  | { readonly kind: 'rejected'; readonly failure: Failure }

export type BodyLimits = { readonly bytesMax: number; readonly timeoutMs: number }

const reject = (kind: Failure['kind'], message: string): ReadBody => ({ kind: 'rejected', failure: { kind, message } })

/** Reads a JSON body as text, bounded in bytes and time while it arrives. */
export async function readJsonBody(request: Request, { bytesMax, timeoutMs }: BodyLimits): Promise<ReadBody> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    return reject('unsupported_media_type', 'Send the body as JSON with Content-Type: application/json.')
  }
  if (request.headers.has('content-encoding')) {
    return reject('unsupported_media_type', 'Compressed bodies are not accepted; send it without Content-Encoding.')
  }
  const tooLarge = reject('request_too_large', `The body is larger than ${bytesMax} bytes.`)
  const declared = Number(request.headers.get('content-length') ?? Number.NaN)
  if (declared > bytesMax) return tooLarge
  const arriving = declared >= 0 ? request.bytes() : collect(request, bytesMax)
  const bytes = await within(
    timeoutMs,
    arriving.catch(() => 'broken_off' as const),
  )
  if (bytes === 'broken_off') return reject('invalid_value', 'The body broke off.')
  if (bytes === 'timeout') return reject('invalid_value', 'The body did not arrive in time.')
  if (bytes === 'too_large') return tooLarge
  try {
    // Fatal: a byte that is not UTF-8 would silently become another prompt.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { kind: 'read', text, bytes: bytes.length }
  } catch {
    return reject('invalid_json', 'The body is not valid UTF-8.')
  }
}

/** Collects a body of undeclared length, and stops reading where the bound is passed. */
async function collect(request: Request, bytesMax: number): Promise<Uint8Array | 'too_large'> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > bytesMax) return 'too_large'
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function within<T>(limitMs: number, promise: Promise<T>): Promise<T | 'timeout'> {
  const { promise: late, resolve } = Promise.withResolvers<'timeout'>()
  const timer = setTimeout(() => resolve('timeout'), limitMs)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
