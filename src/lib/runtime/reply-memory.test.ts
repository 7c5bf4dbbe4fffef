import { describe, expect, test } from 'bun:test'
import { ReplyMemory, type MemoryShare } from './reply-memory.ts'

/** The names of the replies that went on. */
class Line {
  readonly memory: ReplyMemory
  readonly told: string[] = []

  constructor(max: number, accountMax = max) {
    this.memory = new ReplyMemory({ max, accountMax })
  }

  share(account = 'a'): MemoryShare {
    return this.memory.share(account)
  }

  grow(share: MemoryShare, bytes: number, toCome: number, name = ''): boolean {
    return share.grow(bytes, toCome, () => this.told.push(name))
  }
}

describe('memory for replies', () => {
  test('half of it goes to any reply, and the rest only to replies with a full reservation', () => {
    const line = new Line(100)
    const [first, second, third, fourth] = [line.share(), line.share(), line.share(), line.share()]
    expect(line.grow(first, 50, 60)).toBe(true)
    expect(line.grow(second, 10, 20)).toBe(true)
    expect(line.memory.bytes).toBe(80)
    expect(line.grow(third, 1, 20, 'third')).toBe(false)
    // It would fit, but is not first in the queue.
    expect(line.grow(fourth, 1, 1, 'fourth')).toBe(false)
    expect(line.told).toEqual([])
    // Reserved memory can be used.
    expect(line.grow(second, 10, 10)).toBe(true)
    expect(line.memory.bytes).toBe(82)
    second.settle()
    expect(line.told).toEqual(['third', 'fourth'])
    for (const share of [first, second, third, fourth]) share.release()
    expect(line.memory.bytes).toBe(0)
  })

  test('unused reservations go to others, and used memory is taken until its release', () => {
    const line = new Line(100)
    const [first, second, third] = [line.share('a'), line.share('b'), line.share('c')]
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

  test('one reply always goes on, however little memory there is', () => {
    const line = new Line(10)
    const shares = Array.from({ length: 20 }, () => line.share())
    const went = shares.map((share, i) => line.grow(share, 1, 64, String(i)))
    // Half of the memory, and the first reply that needs a reservation.
    expect(went.filter((one) => one)).toHaveLength(6)
    for (let i = 5; i < 20; i++) {
      expect(line.told).toEqual(Array.from({ length: Math.max(0, i - 5) }, (_, at) => String(at + 6)))
      shares[i]?.release()
    }
  })

  test('an account has a share, and its replies do not make others wait', () => {
    const line = new Line(100, 25)
    const [own, more, other] = [line.share('greedy'), line.share('greedy'), line.share('modest')]
    line.grow(own, 60, 0)
    own.settle()
    expect(line.grow(more, 1, 1, 'more')).toBe(false)
    expect(line.grow(other, 1, 25, 'other')).toBe(true)
    other.release()
    expect(line.told).toEqual([])
    own.release()
    expect(line.told).toEqual(['more'])
  })

  test('requests with several replies do not wait for each other', () => {
    const line = new Line(10, 2)
    const shares = [line.share(), line.share()]
    for (const share of shares) {
      line.grow(share, 4, 0)
      share.settle()
    }
    expect(shares.map((share, i) => line.grow(share, 4, 60, String(i)))).toEqual([false, false])
    expect(line.told).toEqual(['0'])
    shares[0]?.release()
    expect(line.told).toEqual(['0', '1'])
  })

  test('a stalled reply gives up its unused reservation', async () => {
    const memory = new ReplyMemory({ max: 100, accountMax: 100, stallMs: 20 })
    const told: string[] = []
    const [hanging, slow, next] = ['a', 'b', 'c'].map((account) => memory.share(account)) as [
      MemoryShare,
      MemoryShare,
      MemoryShare,
    ]
    hanging.grow(60, 64, () => undefined)
    expect(slow.grow(1, 64, () => told.push('slow'))).toBe(false)
    expect(next.grow(1, 64, () => told.push('next'))).toBe(false)
    for (let i = 0; i < 500 && told.length < 2; i++) await Bun.sleep(10)
    // The hanging reply made room for the slow one, and that one for the next.
    expect(told).toEqual(['slow', 'next'])
    for (const share of [hanging, slow, next]) share.release()
    expect(memory.bytes).toBe(0)
  })

  test('slow replies that go on keep their reservations, and the others wait', async () => {
    const memory = new ReplyMemory({ max: 128, accountMax: 128, stallMs: 30 })
    let mostBytes = 0
    const read = async (account: string): Promise<void> => {
      const share = memory.share(account)
      for (let came = 1; came <= 16; came++) {
        // A block takes longer than a stall, but comes in parts.
        for (let part = 0; part < 4; part++) {
          await Bun.sleep(10)
          share.moves()
        }
        const { promise, resolve } = Promise.withResolvers<void>()
        if (!share.grow(1, 32 - came, resolve)) await promise
        mostBytes = Math.max(mostBytes, memory.bytes)
      }
      share.release()
    }
    await Promise.all(Array.from({ length: 24 }, (_, i) => read(`account-${i}`)))
    // All of them together would be 384.
    expect(mostBytes).toBeLessThan(200)
    expect(memory.bytes).toBe(0)
  }, 60_000)

  test('unused replies are dropped, and the request goes on', () => {
    const line = new Line(100)
    const share = line.share()
    line.grow(share, 40, 0)
    share.forget()
    expect(line.memory.bytes).toBe(0)
    expect(line.grow(share, 40, 0)).toBe(true)
    share.release()
    expect(line.memory.bytes).toBe(0)
  })

  test('a waiting reply that is given up leaves the queue', () => {
    const line = new Line(10)
    const [first, second, third] = [line.share(), line.share(), line.share()]
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
