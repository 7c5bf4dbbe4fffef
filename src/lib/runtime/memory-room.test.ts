import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { MemoryRoom } from './memory-room.ts'

/** A system with used memory, part of it garbage. */
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

test('garbage does not count: it is collected first, but not again and again', async () => {
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

test('memory that a native library has freed does not count for long', async () => {
  // It unpacks 100 texts of 8 MB, and the C library keeps them for the next.
  const script = `
    const { deflateSync, crc32 } = await import('node:zlib')
    const { default: sharp } = await import('sharp')
    const { MemoryRoom } = await import('${join(import.meta.dir, 'memory-room.ts')}')
    const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#a05' } }).png().toBuffer()
    const text = Buffer.concat([Buffer.from('zTXtk\\0\\0', 'latin1'), deflateSync(Buffer.alloc(7_900_000, 65))])
    const chunk = Buffer.alloc(text.length + 8)
    chunk.writeUInt32BE(text.length - 4, 0)
    text.copy(chunk, 4)
    chunk.writeUInt32BE(crc32(text), text.length + 4)
    await sharp(Buffer.concat([png.subarray(0, 33), ...Array(100).fill(chunk), png.subarray(33)])).metadata()
    const room = new MemoryRoom(512 * 1024 * 1024)
    const began = process.memoryUsage.rss() > room.bytesMax
    for (let i = 0; i < 100 && room.isShort; i++) await Bun.sleep(100)
    console.log(JSON.stringify([began, room.isShort]))
    process.exit(0)
  `
  const child = Bun.spawn([process.execPath, '-e', script], { cwd: join(import.meta.dir, '../../..'), stdout: 'pipe' })
  expect(await child.stdout.text()).toBe('[true,false]\n')
}, 30_000)
