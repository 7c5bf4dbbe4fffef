import type { Model } from '../domain/catalog.ts'

/** A path segment as text; what cannot be decoded is no model's id. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment // An id with a stray percent sign: the answer names it as it came.
  }
}

/** A model as `GET /v1/models` lists it. */
export const modelObject = ({ id, createdAtMs, ownedBy }: Model): object => ({
  id,
  object: 'model',
  created: Math.floor(createdAtMs / 1000),
  owned_by: ownedBy,
})
