import type { Failure } from '../domain/failure.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { faultOfClientUrl } from '../outbound/guard.ts'

/**
 * Refuses media at addresses that only somebody inside a network could reach. Upstreams fetch what they are told to,
 * and an upstream of the operator's own would give the client what is there. Addresses are judged as they are written.
 * Where a name leads is only known to the upstream that fetches it.
 */
export function refuseRemoteMedia({ remoteMedia }: ClientRequest): Failure | undefined {
  if (!remoteMedia) return undefined
  for (const { url, param } of remoteMedia) {
    const fault = faultOfClientUrl(url, 'public')
    if (fault === undefined) continue
    const message = `Invalid '${param}': ${fault}. Name a public address, or send the data itself.`
    return { kind: 'invalid_value', message, param }
  }
  return undefined
}
