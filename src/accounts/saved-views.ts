/**
 * Filters of the list of requests to which a person gave a name: a name for an address, and nothing more. This is the
 * port that every store of them implements. `people-contract.ts` is the suite that every implementation passes.
 *
 * Invariants: a person has at most `SAVED_VIEWS_MAX`, of different names, and reaches nobody else's.
 */
import { limit } from '../lib/primitives/limit.ts'

/** Of one person. */
export const SAVED_VIEWS_MAX = limit('savedViewsPerUserMax', 50, 'Another saved view of the user is refused.')

export type SavedView = {
  readonly id: string
  readonly name: string
  /** The search part of the address, without its question mark. */
  readonly query: string
  readonly createdAtMs: number
}

export type SavedViewDraft = Pick<SavedView, 'name' | 'query'>

/** Why nothing was saved: the person has another view of that name, has as many as one may, or has no such view. */
export type SavedViewRefusal = { readonly kind: 'name_taken' | 'too_many' | 'missing' }

export type SavedViews = {
  /** Those of one person, the oldest first. */
  listOf(userId: string): Promise<readonly SavedView[]>
  create(userId: string, draft: SavedViewDraft): Promise<SavedView | SavedViewRefusal>
  /** Undefined when it is renamed. */
  rename(userId: string, id: string, draft: Pick<SavedView, 'name'>): Promise<SavedViewRefusal | undefined>
  /** False where the person has no such view. */
  remove(userId: string, id: string): Promise<boolean>
}
