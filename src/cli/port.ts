import { failed, type CommandOutcome } from './outcome.ts'

export type ServerAddress = { readonly host: string; readonly port: number }
/** An address, and the settings that set its host and its port. */
export type SetAddress = ServerAddress & { readonly setBy: { readonly host: string; readonly port: string } }

/**
 * Says what to do if a server cannot listen on its address. Undefined for any other error. If there are several
 * addresses, the error names the one that failed.
 */
export function listenFailure(
  error: unknown,
  ...addresses: readonly [SetAddress, ...SetAddress[]]
): CommandOutcome | undefined {
  const { code, address, port: failedPort } = error as { code?: unknown; address?: unknown; port?: unknown }
  const { host, port, setBy } =
    addresses.find((known) => known.host === address && known.port === failedPort) ?? addresses[0]
  const where = `${host}:${port}`
  switch (code) {
    case 'EADDRINUSE':
      return failed('port_in_use', `${where} is in use; choose another ${setBy.port}, 0 takes a free one`)
    case 'EACCES':
      return failed('port_denied', `this user may not listen on ${where}; choose a ${setBy.port} above 1023`)
    case 'EADDRNOTAVAIL':
      return failed('host_unknown', `${where} is no address of this machine; choose another ${setBy.host}`)
    default:
      return undefined
  }
}
