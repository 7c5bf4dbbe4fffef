/** What every request of the Messages format carries. */
import type { Quirks } from '../../vendors/preset.ts'
import { upstreamPath } from '../core/google-model-path.ts'

type ModelPlace = { readonly upstreamModel: string; readonly quirks: Quirks }

/** Newer clients send a later version. Its answers differ only in null fields, and vendors support this one. */
export const VERSION_HEADER = { 'anthropic-version': '2023-06-01' }
const MESSAGES_PATH = '/messages'

/** Google Cloud wants this version in the body, as JSON text here, and the model in the path (Vertex AI, 2026-11). */
export const PUBLISHER_VERSION = '"vertex-2023-10-16"'

export const isAtPublisher = ({ modelIn }: Quirks): boolean => modelIn === 'publisher_path'

/** The fields of a body that name the model or the version. */
export const namesInBody = ({ upstreamModel, quirks }: ModelPlace): Readonly<Record<string, unknown>> =>
  isAtPublisher(quirks) ? { anthropic_version: JSON.parse(PUBLISHER_VERSION) } : { model: upstreamModel }

/** The path after the base URL. */
export function messagesPath({ upstreamModel, quirks }: ModelPlace, stream: boolean): string {
  if (!isAtPublisher(quirks)) return MESSAGES_PATH
  return upstreamPath(upstreamModel, stream ? 'streamRawPredict' : 'rawPredict')
}
