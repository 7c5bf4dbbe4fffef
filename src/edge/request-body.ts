/** The ways to read the body of a request. */
import type { Failure } from '../domain/failure.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import type { EditForm } from '../formats/images/edit.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { SlotClaim } from '../lib/primitives/slots.ts'

export type ReadClientRequest =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

type Body = { readonly text: string; readonly bytes: number }

/** The parts of a request besides its body that a dialect reads. */
export type DialectHead = Pick<ServerExchange, 'head' | 'header'>

export type JsonBody = {
  readonly kind: 'json'
  /** Parses a body that is valid UTF-8. */
  readonly read: (body: Body, head: DialectHead) => ReadClientRequest | Promise<ReadClientRequest>
  /** Set if a body may be larger than the operator's general limit. */
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
/** A route without a body. The gateway does not read what a client sends. */
export const noBody = { kind: 'none' } as const
