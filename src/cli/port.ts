import { failed, type Outcome } from './outcome.ts'

export type Address = { readonly host: string; readonly port: number }

/**
 * Throws what the system says when an address cannot be listened on. Asked before anything else is done: a first key,
 * made by a start that then fails, would never be shown. Bun.serve is no judge of it: with `development: false` it
 * shares a taken port with its owner unless told otherwise (Bun 1.4.5).
 */
export function probePort({ host, port }: Address): void {
  if (port !== 0) Bun.listen({ hostname: host, port, socket: { data: () => undefined } }).stop(true)
}

/** What to do about an address that cannot be listened on; undefined for any other error. */
export function listenFailure(error: unknown, { host, port }: Address): Outcome | undefined {
  const where = `${host}:${port}`
  switch ((error as { code?: unknown }).code) {
    case 'EADDRINUSE':
      return failed('port_in_use', `${where} is in use; choose another PORT (--port), 0 takes a free one`)
    case 'EACCES':
      return failed('port_denied', `this user may not listen on ${where}; choose a PORT (--port) above 1023`)
    case 'EADDRNOTAVAIL':
      return failed('host_unknown', `HOST in ${where} is no address of this machine (--host)`)
    default:
      return undefined
  }
}
