/**
 * Saved views: filters of the request list that a user has named. A view is only a name for an address. This is the
 * port that every store of views implements. `people-contract.ts` is the suite that every implementation passes.
 *
 * Invariants: a user has at most `SAVED_VIEWS_MAX` views, all with different names, and reaches only those.
 */
import { limit } from '../lib/primitives/limit.ts'

/** The number of views per user. */
export const SAVED_VIEWS_MAX = limit('savedViewsPerUserMax', 50, 'Another saved view of the user is refused.')

export type SavedView = {
  readonly id: string
  readonly name: string
  /** The query of the address, without its question mark. */
  readonly query: string
  readonly createdAtMs: number
}

export type SavedViewDraft = Pick<SavedView, 'name' | 'query'>

/** Why nothing was saved: the user has another view of that name, has the maximum of views, or has no such view. */
export type SavedViewRefusal = { readonly kind: 'name_taken' | 'too_many' | 'missing' }

export type SavedViews = {
  /** The views of one user, oldest first. */
  listOf(userId: string): Promise<readonly SavedView[]>
  create(userId: string, draft: SavedViewDraft): Promise<SavedView | SavedViewRefusal>
  /** Renames a view. Resolves to undefined once it is renamed. */
  rename(userId: string, id: string, draft: Pick<SavedView, 'name'>): Promise<SavedViewRefusal | undefined>
  /** Removes a view. Resolves to false if the user has no such view. */
  remove(userId: string, id: string): Promise<boolean>
}
