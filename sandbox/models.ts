import type { NonEmpty } from './random.ts'
import { refuse, type JsonReply } from './reply.ts'

export type SandboxModel = {
  id: string
  createdUnixSeconds: number
  contextTokensMax: number
  /** Of a model of text: the output limit of a choice if the request sets none. The gateway's offer has the same. */
  outputTokensDefault?: number
  /** For an embedding model. */
  dimensions?: number
  /** For an image model. `modern`: bytes, one image, streams. `classic`: addresses. `turn`: parts of an answer. */
  images?: 'modern' | 'classic' | 'turn'
  /** For a video model. */
  videos?: { resolutions: NonEmpty<Resolution> }
}

export type Resolution = '480p' | '720p' | '1080p'

const models = new Map<string, SandboxModel>()
const CREATED_UNIX_SECONDS = 1_767_225_600

/** Adds models to the list of the vendor. The folder of a modality declares its own. */
export function declareModels(more: readonly Omit<SandboxModel, 'createdUnixSeconds'>[]): void {
  for (const model of more) models.set(model.id, { createdUnixSeconds: CREATED_UNIX_SECONDS, ...model })
}

/** The bounds of a model of text, and of one that makes images inside its text. */
export const textBounds = { contextTokensMax: 128_000, outputTokensDefault: 16_384 }

/** `sandbox-chat!status=500` is the model `sandbox-chat` with the knobs `status=500`: see faults.ts. */
export function splitModelId(id: string): { name: string; knobs: string } {
  const mark = id.indexOf('!')
  return mark === -1 ? { name: id, knobs: '' } : { name: id.slice(0, mark), knobs: id.slice(mark + 1) }
}

export function findModel(id: string): SandboxModel | undefined {
  const { name } = splitModelId(id)
  return models.get(name)
}

export const listModelIds = (): string[] => [...models.keys()]

export function refuseModel(id: string): JsonReply {
  const message = `The model \`${id}\` does not exist or you do not have access to it.`
  return refuse(404, { message, code: 'model_not_found', param: 'model' })
}

/** `GET /v1/models` */
export function listModels(): JsonReply {
  const data = [...models.values()].map((model) => entryOf(model, model.id))
  return { kind: 'json', status: 200, body: { object: 'list', data } }
}

/** `GET /v1/models/{id}`. The id may have knobs, and is returned unchanged. */
export function showModel(id: string): JsonReply {
  const model = findModel(id)
  return model ? { kind: 'json', status: 200, body: entryOf(model, id) } : refuseModel(id)
}

function entryOf(model: SandboxModel, id: string): object {
  return { id, object: 'model', created: model.createdUnixSeconds, owned_by: 'sandbox' }
}
