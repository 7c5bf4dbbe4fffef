/** An item that is on at most one roster, and knows its place there. */
export type RosterMember = {
  /** `NOWHERE` while the item is on no roster. */
  place: number
}

/** The place of an item that is on no roster. */
export const NOWHERE = -1

/**
 * An unordered collection for items that come and go with every request. Sets and Maps of such items cost a fifth of a
 * request's CPU in the garbage collector. When one grows (Bun 1.4.5), its old table still points to the new one. An old
 * unused table then keeps all later ones and their contents alive until a collection of the whole heap.
 */
export class Roster<T extends RosterMember> implements Iterable<T> {
  private readonly all: T[] = []

  get size(): number {
    return this.all.length
  }

  add(one: T): void {
    if (one.place === NOWHERE) one.place = this.all.push(one) - 1
  }

  /** Removes an item. False if it was not on the roster. */
  delete(one: T): boolean {
    const { place } = one
    if (this.all[place] !== one) return false
    const last = this.all.pop() as T
    one.place = NOWHERE
    if (last === one) return true
    this.all[place] = last
    last.place = place
    return true
  }

  /**
   * Iterates backwards, so that an item that stays is never missed while others leave and come. An item may be shown
   * twice, and a new item may not be shown.
   */
  *[Symbol.iterator](): Iterator<T> {
    for (let i = this.all.length - 1; i >= 0; i--) {
      const one = this.all[i]
      if (one) yield one
    }
  }
}
