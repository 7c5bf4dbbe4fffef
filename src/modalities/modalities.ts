/** The table of the kinds of work. */
import { paintsInTurn, type Model, type ModelKind } from '../domain/catalog.ts'
import type { ClientRequest } from '../formats/core/contract.ts'
import { kindOf } from './acceptance.ts'
import { embeddingModality } from './embedding.ts'
import { imageModality } from './image.ts'
import { inlineImageModality } from './inline-image.ts'
import type { Modality } from './modality.ts'
import { textModality } from './text.ts'
import { videoModality } from './video.ts'

const modalities: Readonly<Record<ModelKind, Modality>> = {
  text: textModality,
  embedding: embeddingModality,
  image: imageModality,
  video: videoModality,
}

/** The kind of work that a model does. */
export const modalityOf = (model: Pick<Model, 'kind' | 'limits'>): Modality =>
  paintsInTurn(model) ? inlineImageModality : modalities[model.kind]

/** How the requests of an endpoint are delivered, whatever model they name. */
export const deliveryOf = (request: Pick<ClientRequest, 'kind'>): Modality['delivery'] =>
  modalities[kindOf(request)].delivery
