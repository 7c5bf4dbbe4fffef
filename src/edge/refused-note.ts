/** Builds the stored note of a refused request: who asked for what. It never has a secret or a prompt. */
import type { Accounts } from '../accounts/accounts.ts'
import { mayUse, type Caller } from '../domain/account.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { RefusedRequest } from '../records/refused.ts'
import { presentedKey } from './presented-key.ts'
import type { RequestContext } from './request-context.ts'
import { recordedEndpoint } from './router.ts'

const PATH_CHARS = 100
const MODEL = /^[\w][\w.:/@-]{0,99}$/
const SECRET = /sk-[\w-]+/i
const ID = /\/(?:[a-z]+_[0-9a-z]{20,}|[^/]{64,})/g

/** The path without its ids. A path that may hold a key becomes `other`. */
export function pathWithoutIds(path: string): string {
  if (SECRET.test(path)) return 'other'
  return path.replace(ID, '/{id}').slice(0, PATH_CHARS)
}

/** The endpoint of a request that was refused before it was read. */
const endpointOf = (method: string, path: string): string => recordedEndpoint(method, path) ?? pathWithoutIds(path)

/** A name that can be a model id. Any other name is the client's own text and is left out. */
const modelIn = (name: string): string | undefined => (MODEL.test(name) && !SECRET.test(name) ? name : undefined)

/** A request by an alias counts for its model, unless the caller may not know what the alias stands for. */
function modelFor(catalog: NoteSources['catalog'], caller: Caller | undefined, name: string): string | undefined {
  const model = catalog.modelNamed(name)
  return model && caller && mayUse(caller, model) ? model.id : modelIn(name)
}

type NoteSources = {
  readonly accounts: Pick<Accounts, 'keyPresented'>
  readonly catalog: Pick<Catalog, 'modelNamed'>
}

export function refusedNote(
  { exchange, id, caller, request }: RequestContext,
  { accounts, catalog }: NoteSources,
  { status, code }: { readonly status: number; readonly code: string },
): RefusedRequest {
  const { method, path } = exchange.head
  // A revoked key still belongs to an account.
  const key = caller?.key ?? accounts.keyPresented(presentedKey(exchange) ?? '')
  return {
    id,
    accountId: caller?.account.id ?? (key && 'accountId' in key ? key.accountId : undefined),
    keyId: key?.id,
    method: method.slice(0, 10),
    endpoint: request?.endpoint ?? endpointOf(method, path),
    model: request && modelFor(catalog, caller, request.model),
    status,
    code,
    atMs: Date.now(),
  }
}
