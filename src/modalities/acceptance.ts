/** The reasons why a model cannot serve a request. */
import type { Model, ModelKind } from '../domain/catalog.ts'
import type { Failure } from '../domain/failure.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { wordsOf } from '../formats/core/request-words.ts'

/** The kind that the endpoint of a request makes. */
export const kindOf = ({ kind = 'text' }: Pick<ClientRequest, 'kind'>): ModelKind => kind

/** Why a model does not make what the endpoint makes, if that is so. */
export function acceptsKind(model: Model, request: ClientRequest): Failure | undefined {
  const kind = kindOf(request)
  if (model.kind === kind) return undefined
  const message = `The model '${model.id}' is for ${model.kind}. This endpoint is for ${kind} models.`
  return { kind: 'model_not_supported', message, param: 'model' }
}

/** Why a model does not take the audio or the files of a request, if that is so. */
export function acceptsMedia(model: Model, request: ClientRequest): Failure | undefined {
  if (request.mediaBytes === 0 || model.limits.mediaInput !== 'refused') return undefined
  return {
    kind: 'model_not_supported',
    message: `The model '${model.id}' takes no audio and no files here, because they would cost more than its price.`,
    param: wordsOf(request).input,
  }
}
