/** The model in the paths of Gemini's API, both Google's and ours. */

export type Action =
  | 'generateContent'
  | 'streamGenerateContent'
  | 'countTokens'
  | 'predictLongRunning'
  | 'fetchPredictOperation'

const KIND = /^(models|tunedModels)\/(.+)$/s
/** A segment that a server would read as the parent folder. */
const DOTS_ONLY = /(?<=^|\/)\.+(?=\/|$)/g

/**
 * The path of an upstream model, after the base URL. The id is one percent-encoded segment, and the action follows it,
 * so it cannot be `..`. A server that decodes slashes too early finds no parent folder in it either.
 */
export function upstreamPath(upstreamModel: string, action: Action): string {
  const [, kind = 'models', id = upstreamModel] = KIND.exec(upstreamModel) ?? []
  const segment = encodeURIComponent(id.toWellFormed().replace(DOTS_ONLY, '_'))
  return `/${kind}/${segment}:${action}${action === 'streamGenerateContent' ? '?alt=sse' : ''}`
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
