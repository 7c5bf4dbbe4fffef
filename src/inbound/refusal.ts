/** Answers to what is not a request. */
import type { Socket } from 'bun'
import { writeSync } from 'node:fs'
import type { Host } from './host.ts'
import { replyHead } from './reply-head.ts'
import type { MalformedRequest } from './request-head.ts'

/** How the TLS library says that a client speaks plain HTTP. */
const PLAIN_HTTP = /HTTP_REQUEST/
const NO_TLS = 'This port speaks HTTPS: use https:// in the base URL.'

/** The whole answer. The connection closes after it. */
export function refusalText({ refuse }: Pick<Host, 'refuse'>, malformed: MalformedRequest): string {
  const { headers, body } = refuse(malformed)
  const framing = `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n`
  return replyHead(malformed.status, headers, framing) + body
}

/**
 * Tells a client that speaks plain HTTP to a TLS port. The socket would encrypt the answer. Its descriptor, which Bun
 * 1.4.5 has and its types do not, does not.
 */
export function refusePlainHttp(socket: Socket<unknown>, host: Pick<Host, 'refuse'>, { message }: Error): void {
  if (!PLAIN_HTTP.test(message)) return
  const { fd } = socket as unknown as { readonly fd: number }
  try {
    writeSync(fd, refusalText(host, { status: 400, message: NO_TLS }))
  } catch {
    // The client has left.
  }
}
