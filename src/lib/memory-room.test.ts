import { expect, test } from 'bun:test'
import { MemoryRoom } from './memory-room.ts'

/** A system with so much in use, part of it garbage. */
function roomOf(used: { live: number; garbage: number }): { room: MemoryRoom; collections: () => number } {
  let collections = 0
  const room = new MemoryRoom(100, {
    usedBytes: () => used.live + used.garbage,
    collect: () => {
      collections++
      used.garbage = 0
    },
  })
  return { room, collections: () => collections }
}

test('there is room up to 85 percent', () => {
  expect(roomOf({ live: 85, garbage: 0 }).room.isShort).toBe(false)
  expect(roomOf({ live: 86, garbage: 0 }).room.isShort).toBe(true)
})

test('garbage takes no room: it is collected first, but not again and again', async () => {
  const used = { live: 50, garbage: 49 }
  const { room, collections } = roomOf(used)
  expect([room.isShort, collections()]).toEqual([false, 1])
  used.garbage = 49
  await Bun.sleep(260)
  expect([room.isShort, room.isShort, collections()]).toEqual([true, true, 1])
  used.garbage = 0
  await Bun.sleep(260)
  expect(room.isShort).toBe(false)
})
