/** How the body of a request is read. */
import type { Failure } from '../domain/failure.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import type { EditForm } from '../formats/images/edit.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { SlotClaim } from '../lib/primitives/slots.ts'

export type ReadClientRequest =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

type Body = { readonly text: string; readonly bytes: number }

/** The parts of a request outside its body that a dialect reads, too. */
export type DialectHead = Pick<ServerExchange, 'head' | 'header'>

export type JsonBody = {
  readonly kind: 'json'
  /** Reads a body that is valid UTF-8. */
  readonly read: (body: Body, head: DialectHead) => ReadClientRequest | Promise<ReadClientRequest>
  /** Set where a body may be larger than the operator's limit for all. */
  readonly bytesMax: number | undefined
}

/** Reads a form with files, or JSON with the same content. */
export type FormBody = {
  readonly kind: 'form'
  readonly read: (form: EditForm, claim: SlotClaim) => ReadClientRequest | Promise<ReadClientRequest>
}

export type RequestBody = JsonBody | FormBody

export const jsonBody = (read: JsonBody['read'], bytesMax?: number): JsonBody => ({ kind: 'json', read, bytesMax })
export const formBody = (read: FormBody['read']): FormBody => ({ kind: 'form', read })
/** The route has no body: what a client sends is not read. */
export const noBody = { kind: 'none' } as const
