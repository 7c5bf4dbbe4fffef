import { edenGC, fullGC, heapStats } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import { Members, NOWHERE, type Member } from './members.ts'

class One implements Member {
  place = NOWHERE
  readonly name: number

  constructor(name: number) {
    this.name = name
  }
}

const some = (count: number): One[] => Array.from({ length: count }, (_, name) => new One(name))
const names = (members: Members<One>): number[] => [...members].map(({ name }) => name).toSorted((a, b) => a - b)

describe('members', () => {
  test('come once, leave once, wherever they are', () => {
    const members = new Members<One>()
    const [a, b, c] = some(3) as [One, One, One]
    for (const one of [a, b, c, b]) members.add(one)
    expect(members.size).toBe(3)
    expect(members.delete(a)).toBe(true)
    expect(members.delete(a)).toBe(false)
    expect(names(members)).toEqual([1, 2])
    expect(members.delete(c)).toBe(true)
    expect(members.delete(b)).toBe(true)
    expect(members.size).toBe(0)
    members.add(a)
    expect(names(members)).toEqual([0])
  })

  test('are like a Set after anything', () => {
    const members = new Members<One>()
    const model = new Set<One>()
    const all = some(40)
    for (let i = 0; i < 5_000; i++) {
      const one = all[(i * 7919 + (i >> 3) * 104_729) % all.length] as One
      if (i % 3 === 0) expect(members.delete(one)).toBe(model.delete(one))
      else {
        members.add(one)
        model.add(one)
      }
      expect(members.size).toBe(model.size)
    }
    expect(names(members)).toEqual([...model].map(({ name }) => name).toSorted((a, b) => a - b))
  })

  test('are all seen, whoever leaves or comes meanwhile', () => {
    for (const leaving of [0, 3, 5, 9]) {
      const members = new Members<One>()
      const all = some(10)
      for (const one of all) members.add(one)
      const seen = new Set<number>()
      for (const one of members) {
        seen.add(one.name)
        members.delete(one)
        members.delete(all[leaving] as One)
        if (one.name > 5) members.add(new One(100 + one.name))
      }
      for (const { name } of all) expect(seen.has(name) || name === leaving).toBe(true)
    }
  })

  // The collector of the young follows what old garbage points to: a Set's outgrown tables point to the later ones.
  test('leave nothing behind for the collector', () => {
    const members = new Members<One & { readonly also: object }>()
    const queue: (One & { readonly also: object })[] = []
    const pass = (count: number): void => {
      for (const one of some(count)) {
        const member = Object.assign(one, { also: { of: one.name } })
        members.add(member)
        queue.push(member)
        if (queue.length > 28) members.delete(queue.shift() as (typeof queue)[number])
      }
    }
    pass(1_000)
    fullGC()
    pass(2_000)
    edenGC()
    const young = heapStats().objectCount
    fullGC()
    // With a Set, 2,800 of the 4,000 objects that nothing uses any more were still there.
    expect(young - heapStats().objectCount).toBeLessThan(500)
  })
})
