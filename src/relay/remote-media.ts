import type { Failure } from '../domain/failure.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { faultOfClientUrl } from '../outbound/guard.ts'

/**
 * Upstreams fetch what they are told to. Whoever they belong to, none is sent where only somebody inside could go: one
 * of the operator's own would bring the client what is there. Addresses are judged as they are written: where a name
 * leads is known to whoever fetches it, and to nobody before.
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
