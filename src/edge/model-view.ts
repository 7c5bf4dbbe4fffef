import { paintsInTurn, type Model } from '../domain/catalog.ts'

/** A path segment as text; what cannot be decoded is no model's id. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment // An id with a stray percent sign: the answer names it as it came.
  }
}

/** A model as `GET /v1/models` lists it: OpenAI's fields, and where it can be called. */
export const modelObject = (model: Model): object => ({
  id: model.id,
  object: 'model',
  created: Math.floor(model.createdAtMs / 1000),
  owned_by: model.ownedBy,
  endpoints: endpointsOf(model),
})

/** By the names that requests go by in their records. */
function endpointsOf(model: Model): readonly string[] {
  switch (model.kind) {
    case 'text':
      return ['chat.completions', 'responses', 'messages', 'gemini']
    case 'embedding':
      return ['embeddings']
    case 'image':
      if (paintsInTurn(model)) return ['gemini']
      return ['images.generations', ...(model.limits.image.inputsMax > 0 ? ['images.edits'] : [])]
    case 'video':
      return ['videos']
  }
}
