/** The ways to read the body of a request. */
import type { Failure } from '../domain/failure.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import type { HintField } from '../formats/core/hint-fields.ts'
import type { FormRules, ReceivedForm } from '../formats/core/form.ts'
import type { ServerExchange } from '../inbound/exchange.ts'
import type { Late } from '../lib/primitives/lazy.ts'
import type { SlotRequest } from '../lib/primitives/slots.ts'

export type ReadClientRequest =
  | { readonly kind: 'read'; readonly request: ClientRequest }
  | { readonly kind: 'rejected'; readonly failure: Failure }

type Body = { readonly text: string; readonly bytes: number }

/** The parts of a request besides its body that a dialect reads. */
export type DialectHead = Pick<ServerExchange, 'head' | 'header'>

/**
 * Loads the module that reads a body: soon after the start, or at its first use. Its schemas and the schema library
 * would take a quarter of the start.
 */
type LoadReader = () => Promise<unknown>

export type JsonBody = {
  readonly kind: 'json'
  /** Parses a body that is valid UTF-8. */
  readonly read: (body: Body, head: DialectHead) => ReadClientRequest | Promise<ReadClientRequest>
  /** The fields that say how the request is routed, if the body may have them. They are taken out of it. */
  readonly hints?: readonly HintField[] | undefined
  /** Set if a body may be larger than the operator's general limit. */
  readonly bytesMax: number | undefined
  readonly load: LoadReader
}

/** Reads a form with files, or JSON with the same content if the rules allow it. */
export type FormBody = {
  readonly kind: 'form'
  readonly rules: FormRules
  readonly read: (form: ReceivedForm, slot: SlotRequest) => ReadClientRequest | Promise<ReadClientRequest>
  readonly load: LoadReader
}

export type RequestBody = JsonBody | FormBody

/** A JSON body that a late module reads. */
export const jsonBody = <M>(
  reader: Late<M>,
  read: (module: M, body: Body, head: DialectHead) => ReadClientRequest | Promise<ReadClientRequest>,
  { bytesMax, hints }: Partial<Pick<JsonBody, 'bytesMax' | 'hints'>> = {},
): JsonBody => ({
  kind: 'json',
  read: (body, head) => reader((module) => read(module, body, head)),
  hints,
  bytesMax,
  load: reader.load,
})

/** A form that a late module reads. */
export const formBody = <M>(
  rules: FormRules,
  reader: Late<M>,
  read: (module: M, form: ReceivedForm, slot: SlotRequest) => ReadClientRequest | Promise<ReadClientRequest>,
): FormBody => ({
  kind: 'form',
  rules,
  read: (form, slot) => reader((module) => read(module, form, slot)),
  load: reader.load,
})
/** A route without a body. The gateway does not read what a client sends. */
export const noBody = { kind: 'none' } as const
