/** Saved views in SQL. They are read only for people, on a thread of their own. */
import { timeOrderedId } from '../lib/primitives/ids.ts'
import { violates } from '../store/constraint.ts'
import { statement } from '../store/statement.ts'
import type { Store } from '../store/store.ts'

import {
  SAVED_VIEWS_MAX,
  type SavedView,
  type SavedViewDraft,
  type SavedViewRefusal,
  type SavedViews,
} from './saved-views.ts'

/** A user has each name once. */
const NAME_KEY = 'saved_view(user_id, name)'

const insert =
  statement(`INSERT INTO saved_view (user_id, id, name, query, created_at) SELECT ?1, ?2, ?3, ?4, CAST(?5 AS bigint)
  WHERE (SELECT count(*) FROM saved_view WHERE user_id = ?1) < ${SAVED_VIEWS_MAX}`)
const rename = statement('UPDATE saved_view SET name = ?3 WHERE user_id = ?1 AND id = ?2')
const remove = statement('DELETE FROM saved_view WHERE user_id = ? AND id = ?')

export const openSqlSavedViews = (store: Store): SavedViews => new SqlSavedViews(store)

class SqlSavedViews implements SavedViews {
  private readonly store: Store

  constructor(store: Store) {
    this.store = store
  }

  async listOf(userId: string): Promise<readonly SavedView[]> {
    const rows = await this.store.aside.query('SELECT * FROM saved_view WHERE user_id = ? ORDER BY id', [userId])
    return rows.map((row) => ({
      id: row['id'] as string,
      name: row['name'] as string,
      query: row['query'] as string,
      createdAtMs: Number(row['created_at']),
    }))
  }

  async create(userId: string, { name, query }: SavedViewDraft): Promise<SavedView | SavedViewRefusal> {
    const view = { id: timeOrderedId('view_'), name, query, createdAtMs: Date.now() }
    const bind = [userId, view.id, name, query, view.createdAtMs]
    const outcome = await this.store.write([{ run: insert, bind, changes: 1 }], 'bulk')
    if (outcome.kind === 'written') return view
    return { kind: violates(outcome, NAME_KEY) ? 'name_taken' : 'too_many' }
  }

  async rename(userId: string, id: string, { name }: Pick<SavedView, 'name'>): Promise<SavedViewRefusal | undefined> {
    const outcome = await this.store.write([{ run: rename, bind: [userId, id, name], changes: 1 }], 'bulk')
    if (outcome.kind === 'written') return undefined
    return { kind: violates(outcome, NAME_KEY) ? 'name_taken' : 'missing' }
  }

  async remove(userId: string, id: string): Promise<boolean> {
    return (await this.store.write([{ run: remove, bind: [userId, id], changes: 1 }], 'bulk')).kind === 'written'
  }
}
