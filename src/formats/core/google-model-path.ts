/** The model in the paths of Gemini's API, both Google's and ours. */
import { modelSegment } from './model-path.ts'

export type Action =
  | 'generateContent'
  | 'streamGenerateContent'
  | 'countTokens'
  | 'predictLongRunning'
  | 'fetchPredictOperation'
  | 'rawPredict'
  | 'streamRawPredict'

const KIND = /^(models|tunedModels)\/(.+)$/s

/** The path of an upstream model, after the base URL. The action follows the id. */
export function upstreamPath(upstreamModel: string, action: Action): string {
  const [, kind = 'models', id = upstreamModel] = KIND.exec(upstreamModel) ?? []
  return `/${kind}/${modelSegment(id)}:${action}${action === 'streamGenerateContent' ? '?alt=sse' : ''}`
}

/**
 * Google's SDK for JavaScript requests `v1` since its third major version. Everything else requests `v1beta` (2026-11).
 */
const PATH = /^\/v1(?:beta|alpha)?\/models\/(.+):([A-Za-z]+)$/

/**
 * Splits a request's path: `/v1beta/models/{model}:{action}`. The public id may hold slashes and colons, raw or
 * encoded. `models/` stands once or twice before it, because SDKs add it to any id.
 */
export function readModelPath(path: string): { readonly model: string; readonly action: string } | undefined {
  const [, segment, action] = PATH.exec(path) ?? []
  if (segment === undefined || action === undefined) return undefined
  const model = decoded(segment).replace(/^models\//, '')
  return model === '' ? undefined : { model, action }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // The id has a stray percent sign. The answer names it as it came.
  }
}
