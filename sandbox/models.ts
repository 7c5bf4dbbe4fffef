import type { NonEmpty } from './random.ts'
import { refuse, type JsonReply } from './reply.ts'

export type SandboxModel = {
  id: string
  createdUnixSeconds: number
  contextTokensMax: number
  /** The output limit of a choice if the request sets none. The gateway's offer of the model has the same. */
  outputTokensDefault?: number
  /** For an embedding model. */
  dimensions?: number
  /** For an image model. `modern`: bytes, one image, streams. `classic`: addresses. `turn`: parts of an answer. */
  images?: 'modern' | 'classic' | 'turn'
  /** For a video model. */
  videos?: { resolutions: NonEmpty<Resolution> }
}

export type Resolution = '480p' | '720p' | '1080p'

const MODELS: readonly SandboxModel[] = [
  text('sandbox-chat'),
  text('sandbox-mini'),
  { id: 'sandbox-embedding', createdUnixSeconds: 1_767_225_600, contextTokensMax: 8_192, dimensions: 3_072 },
  { id: 'sandbox-embedding-small', createdUnixSeconds: 1_767_225_600, contextTokensMax: 8_192, dimensions: 1_536 },
  { id: 'sandbox-embedding-large', createdUnixSeconds: 1_767_225_600, contextTokensMax: 8_192, dimensions: 3_072 },
  { id: 'sandbox-image', createdUnixSeconds: 1_767_225_600, contextTokensMax: 32_000, images: 'modern' },
  { id: 'sandbox-image-classic', createdUnixSeconds: 1_767_225_600, contextTokensMax: 4_000, images: 'classic' },
  { ...text('sandbox-image-gemini'), outputTokensDefault: 32_768, images: 'turn' },
  video('sandbox-video', ['480p', '720p', '1080p']),
  video('sandbox-video-fast', ['480p', '720p']),
]

function text(id: string): SandboxModel {
  return { id, createdUnixSeconds: 1_767_225_600, contextTokensMax: 128_000, outputTokensDefault: 16_384 }
}

function video(id: string, resolutions: NonEmpty<Resolution>): SandboxModel {
  return { id, createdUnixSeconds: 1_767_225_600, contextTokensMax: 32_000, videos: { resolutions } }
}

/** `sandbox-chat!status=500` is the model `sandbox-chat` with the knobs `status=500`: see faults.ts. */
export function splitModelId(id: string): { name: string; knobs: string } {
  const mark = id.indexOf('!')
  return mark === -1 ? { name: id, knobs: '' } : { name: id.slice(0, mark), knobs: id.slice(mark + 1) }
}

export function findModel(id: string): SandboxModel | undefined {
  const { name } = splitModelId(id)
  return MODELS.find((model) => model.id === name)
}

export const listModelIds = (): string[] => MODELS.map(({ id }) => id)

export function refuseModel(id: string): JsonReply {
  const message = `The model \`${id}\` does not exist or you do not have access to it.`
  return refuse(404, { message, code: 'model_not_found', param: 'model' })
}

/** `GET /v1/models` */
export function listModels(): JsonReply {
  return { kind: 'json', status: 200, body: { object: 'list', data: MODELS.map((model) => entryOf(model, model.id)) } }
}

/** `GET /v1/models/{id}`. The id may have knobs, and is returned unchanged. */
export function showModel(id: string): JsonReply {
  const model = findModel(id)
  return model ? { kind: 'json', status: 200, body: entryOf(model, id) } : refuseModel(id)
}

function entryOf(model: SandboxModel, id: string): object {
  return { id, object: 'model', created: model.createdUnixSeconds, owned_by: 'sandbox' }
}
