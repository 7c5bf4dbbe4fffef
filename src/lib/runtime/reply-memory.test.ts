import { describe, expect, test } from 'bun:test'
import { ReplyMemory, type ReplyClaim as Claim } from './reply-memory.ts'

/** What went on, by name. */
class Line {
  readonly memory: ReplyMemory
  readonly told: string[] = []

  constructor(max: number, shareMax = max) {
    this.memory = new ReplyMemory({ max, shareMax })
  }

  claim(account = 'a'): Claim {
    return this.memory.claim(account)
  }

  grow(claim: Claim, bytes: number, toCome: number, name = ''): boolean {
    return claim.grow(bytes, toCome, () => this.told.push(name))
  }
}

describe('memory for replies', () => {
  test('half of it goes to whoever comes, the rest to those that have room for all they can become', () => {
    const line = new Line(100)
    const [first, second, third, fourth] = [line.claim(), line.claim(), line.claim(), line.claim()]
    expect(line.grow(first, 50, 60)).toBe(true)
    expect(line.grow(second, 10, 20)).toBe(true)
    expect(line.memory.bytes).toBe(80)
    expect(line.grow(third, 1, 20, 'third')).toBe(false)
    // It would fit, and does not come first.
    expect(line.grow(fourth, 1, 1, 'fourth')).toBe(false)
    expect(line.told).toEqual([])
    // What has been reserved is there to be used.
    expect(line.grow(second, 10, 10)).toBe(true)
    expect(line.memory.bytes).toBe(82)
    second.settle()
    expect(line.told).toEqual(['third', 'fourth'])
    for (const claim of [first, second, third, fourth]) claim.release()
    expect(line.memory.bytes).toBe(0)
  })

  test('what was reserved and not used is for others, and what came is taken until it is released', () => {
    const line = new Line(100)
    const [first, second, third] = [line.claim('a'), line.claim('b'), line.claim('c')]
    line.grow(first, 51, 49)
    line.grow(second, 1, 10, 'second')
    expect(line.told).toEqual([])
    first.settle()
    expect(line.told).toEqual(['second'])
    expect(line.memory.bytes).toBe(62)
    line.grow(third, 1, 60, 'third')
    second.release()
    expect(line.told).toEqual(['second', 'third'])
  })

  test('one always goes on, however little there is', () => {
    const line = new Line(10)
    const claims = Array.from({ length: 20 }, () => line.claim())
    const went = claims.map((claim, i) => line.grow(claim, 1, 64, String(i)))
    // Half of it, and the first that has to ask.
    expect(went.filter((one) => one)).toHaveLength(6)
    for (let i = 5; i < 20; i++) {
      expect(line.told).toEqual(Array.from({ length: Math.max(0, i - 5) }, (_, at) => String(at + 6)))
      claims[i]?.release()
    }
  })

  test('an account has its share, and its replies keep those of others not waiting', () => {
    const line = new Line(100, 25)
    const [own, more, other] = [line.claim('greedy'), line.claim('greedy'), line.claim('modest')]
    line.grow(own, 60, 0)
    own.settle()
    expect(line.grow(more, 1, 1, 'more')).toBe(false)
    expect(line.grow(other, 1, 25, 'other')).toBe(true)
    other.release()
    expect(line.told).toEqual([])
    own.release()
    expect(line.told).toEqual(['more'])
  })

  test('calls with several replies do not wait for each other', () => {
    const line = new Line(10, 2)
    const claims = [line.claim(), line.claim()]
    for (const claim of claims) {
      line.grow(claim, 4, 0)
      claim.settle()
    }
    expect(claims.map((claim, i) => line.grow(claim, 4, 60, String(i)))).toEqual([false, false])
    expect(line.told).toEqual(['0'])
    claims[0]?.release()
    expect(line.told).toEqual(['0', '1'])
  })

  test('whoever has room and gets nothing any more makes room', async () => {
    const memory = new ReplyMemory({ max: 100, shareMax: 100, stallMs: 20 })
    const told: string[] = []
    const [hanging, slow, next] = ['a', 'b', 'c'].map((account) => memory.claim(account)) as [Claim, Claim, Claim]
    hanging.grow(60, 64, () => undefined)
    expect(slow.grow(1, 64, () => told.push('slow'))).toBe(false)
    expect(next.grow(1, 64, () => told.push('next'))).toBe(false)
    for (let i = 0; i < 500 && told.length < 2; i++) await Bun.sleep(10)
    // The hanging one gave way to the slow one, and that to the next.
    expect(told).toEqual(['slow', 'next'])
    for (const claim of [hanging, slow, next]) claim.release()
    expect(memory.bytes).toBe(0)
  })

  test('slow ones that go on keep their room, and the others wait', async () => {
    const memory = new ReplyMemory({ max: 128, shareMax: 128, stallMs: 30 })
    let mostBytes = 0
    const read = async (account: string): Promise<void> => {
      const claim = memory.claim(account)
      for (let came = 1; came <= 16; came++) {
        // A block takes longer than a stall, and comes in parts.
        for (let part = 0; part < 4; part++) {
          await Bun.sleep(10)
          claim.moves()
        }
        const { promise, resolve } = Promise.withResolvers<void>()
        if (!claim.grow(1, 32 - came, resolve)) await promise
        mostBytes = Math.max(mostBytes, memory.bytes)
      }
      claim.release()
    }
    await Promise.all(Array.from({ length: 24 }, (_, i) => read(`account-${i}`)))
    // All of them at once would be 384.
    expect(mostBytes).toBeLessThan(200)
    expect(memory.bytes).toBe(0)
  }, 60_000)

  test('replies of no use are forgotten, and the call goes on', () => {
    const line = new Line(100)
    const claim = line.claim()
    line.grow(claim, 40, 0)
    claim.forget()
    expect(line.memory.bytes).toBe(0)
    expect(line.grow(claim, 40, 0)).toBe(true)
    claim.release()
    expect(line.memory.bytes).toBe(0)
  })

  test('one that is given up while it waits leaves the line', () => {
    const line = new Line(10)
    const [first, second, third] = [line.claim(), line.claim(), line.claim()]
    line.grow(first, 6, 60)
    line.grow(second, 1, 1, 'second')
    line.grow(third, 1, 1, 'third')
    second.release()
    second.release()
    expect(line.grow(second, 5, 5)).toBe(true)
    first.release()
    third.release()
    expect([line.told, line.memory.bytes]).toEqual([['third'], 0])
  })
})
