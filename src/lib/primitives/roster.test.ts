import { edenGC, fullGC, heapStats } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import { NOWHERE, Roster, type RosterMember } from './roster.ts'

class One implements RosterMember {
  place = NOWHERE
  readonly name: number
  readonly also: object

  constructor(name: number) {
    this.name = name
    this.also = { of: name }
  }
}

const some = (count: number): One[] => Array.from({ length: count }, (_, name) => new One(name))
const names = (roster: Roster<One>): number[] => [...roster].map(({ name }) => name).toSorted((a, b) => a - b)

describe('a roster', () => {
  test('has each item once, at any place', () => {
    const roster = new Roster<One>()
    const [a, b, c] = some(3) as [One, One, One]
    for (const one of [a, b, c, b]) roster.add(one)
    expect(roster.size).toBe(3)
    expect(roster.delete(a)).toBe(true)
    expect(roster.delete(a)).toBe(false)
    expect(names(roster)).toEqual([1, 2])
    expect(roster.delete(c)).toBe(true)
    expect(roster.delete(b)).toBe(true)
    expect(roster.size).toBe(0)
    roster.add(a)
    expect(names(roster)).toEqual([0])
  })

  test('behaves like a Set after any operations', () => {
    const roster = new Roster<One>()
    const model = new Set<One>()
    const all = some(40)
    for (let i = 0; i < 5_000; i++) {
      const one = all[(i * 7919 + (i >> 3) * 104_729) % all.length] as One
      if (i % 3 === 0) expect(roster.delete(one)).toBe(model.delete(one))
      else {
        roster.add(one)
        model.add(one)
      }
      expect(roster.size).toBe(model.size)
    }
    expect(names(roster)).toEqual([...model].map(({ name }) => name).toSorted((a, b) => a - b))
  })

  test('shows all items that stay while others leave and come', () => {
    for (const leaving of [0, 3, 5, 9]) {
      const roster = new Roster<One>()
      const all = some(10)
      for (const one of all) roster.add(one)
      const seen = new Set<number>()
      for (const one of roster) {
        seen.add(one.name)
        roster.delete(one)
        roster.delete(all[leaving] as One)
        if (one.name > 5) roster.add(new One(100 + one.name))
      }
      for (const { name } of all) expect(seen.has(name) || name === leaving).toBe(true)
    }
  })

  // The collector of young objects follows pointers of old garbage, and old tables of a Set point to later ones.
  test('leaves nothing behind for the collector', () => {
    const roster = new Roster<One>()
    const queue: One[] = []
    let made = 0
    // The items are made one by one. A list that happens to be on the stack would keep them all alive.
    const pass = (count: number): void => {
      for (let i = 0; i < count; i++) {
        const one = new One(made++)
        roster.add(one)
        queue.push(one)
        if (queue.length > 28) roster.delete(queue.shift() as One)
      }
    }
    const objects = (): number => heapStats().objectTypeCounts['Object'] ?? 0
    const left = Array.from({ length: 11 }, () => {
      pass(1_000)
      // Garbage of another test may need two collections.
      fullGC()
      fullGC()
      pass(2_000)
      edenGC()
      const young = objects()
      fullGC()
      return young - objects()
    })
    // 56 of 4,000; with a Set more than 3,000.
    expect(left.toSorted((a, b) => a - b)[5]).toBeLessThan(500)
  })
})
