/** Where a model stands in the paths of Gemini's API, theirs and ours. */

export type Action =
  | 'generateContent'
  | 'streamGenerateContent'
  | 'countTokens'
  | 'predictLongRunning'
  | 'fetchPredictOperation'

const KIND = /^(models|tunedModels)\/(.+)$/s
/** A segment that a server would take for a way up. */
const DOTS_ONLY = /(?<=^|\/)\.+(?=\/|$)/g

/**
 * The path of an upstream model, after the base URL. The id is one segment, percent-encoded: with the action behind it
 * it cannot be a `..`, and a server that decodes slashes too early finds no way up in it either.
 */
export function upstreamPath(upstreamModel: string, action: Action): string {
  const [, kind = 'models', id = upstreamModel] = KIND.exec(upstreamModel) ?? []
  const segment = encodeURIComponent(id.toWellFormed().replace(DOTS_ONLY, '_'))
  return `/${kind}/${segment}:${action}${action === 'streamGenerateContent' ? '?alt=sse' : ''}`
}

/** Google's SDK for JavaScript asks for `v1` since its third major, everything else for `v1beta` (2026-11). */
const PATH = /^\/v1(?:beta|alpha)?\/models\/(.+):([A-Za-z]+)$/

/**
 * Takes a request's path apart: `/v1beta/models/{model}:{action}`. The public id may hold slashes and colons, raw or
 * encoded, and stands behind `models/` once or twice, since SDKs put that before whatever they are given.
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
    return text // An id with a stray percent sign: the answer names it as it came.
  }
}
