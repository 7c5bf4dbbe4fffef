import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import sharp from 'sharp'
import { pictureBombs } from '../../../test/load/malformed/pictures.ts'
import { Decoders, decoderBounds } from './picture-decoders.ts'
import { decoders, inspectPicture, isOpaque, pixelsOf } from './picture.ts'
import { TooLate } from '../primitives/slots.ts'

const CLAIM = { share: 'a' }
const MB = 1_000_000
const LOOK = { task: 'look', pixelsMax: 50 * MB } as const

afterAll(() => decoders.stop())

const plain = (width: number, height = width): ReturnType<typeof sharp> =>
  sharp({ create: { width, height, channels: 4, background: { r: 1, g: 2, b: 3, alpha: 0.5 } } })

test('bombs: a picture is found with any extra parts, and none of them stays in this process', async () => {
  const wrong: string[] = []
  let count = 0
  for (const { name, file, holds } of pictureBombs()) {
    count++
    const { kind } = await inspectPicture(file, CLAIM, 50 * MB)
    if (holds !== 'either' && (kind === 'picture') !== (holds === 'picture')) wrong.push(`${name}: ${kind}`)
    expect(decoders.memoryBytes).toBeLessThan(decoderBounds.bytesMax * 1.1)
  }
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThanOrEqual(50)
  expect(decoders.lostInAll).toBe(0)
}, 120_000)

test('pictures by their bytes and by their files, from any folder', async () => {
  const file = await plain(100, 50).png().toBuffer()
  const path = join(tmpdir(), `tollgate-${process.pid}.png`)
  writeFileSync(path, file)
  const seen = { kind: 'picture', format: 'png', width: 100, height: 50, hasAlpha: true } as const
  expect(await inspectPicture(file, CLAIM)).toEqual(seen)
  expect(await inspectPicture(relative(process.cwd(), path), CLAIM)).toEqual(seen)
  expect(await inspectPicture(`${path}.gone`, CLAIM)).toEqual({ kind: 'unreadable' })
  expect(await isOpaque(path, CLAIM)).toBe(false)
  expect(await isOpaque(await plain(100).flatten().ensureAlpha().png().toBuffer(), CLAIM)).toBe(true)
  const pixels = await pixelsOf(file, CLAIM, 1_250)
  expect(pixels).toMatchObject({ width: 50, height: 25, fileWidth: 100, fileHeight: 50 })
  expect([pixels?.bytes.length, pixels?.bytes[3]]).toEqual([5_000, 128])
})

test('a picture that needs more memory than a decoder may use is refused, before and during decoding', async () => {
  const large = await plain(5_000).webp({ lossless: true, effort: 0 }).toBuffer()
  const few = new Decoders()
  few.fitInto(0)
  expect((await few.decode(large, LOOK, CLAIM)).said.kind).toBe('too_heavy')
  const tight = new Decoders(() => 70 * MB)
  expect((await tight.decode(await plain(4_000).png().toBuffer(), { task: 'opacity' }, CLAIM)).said.kind).toBe(
    'too_heavy',
  )
  expect([tight.size, tight.lostInAll]).toEqual([0, 1])
  few.stop()
})

test('a killed decoder is replaced, and a picture that kills a second one is unreadable', async () => {
  const own = new Decoders()
  const file = await plain(6_000).png().toBuffer()
  await own.decode(await plain(8).png().toBuffer(), LOOK, CLAIM)
  const [first = 0] = own.pids
  const looked = own.decode(file, LOOK, CLAIM)
  await Bun.sleep(20)
  process.kill(first, 'SIGKILL')
  expect((await looked).said).toMatchObject({ kind: 'picture', width: 6_000 })
  expect(own.pids).not.toContain(first)

  let isOver = false
  const again = own.decode(file, LOOK, CLAIM).finally(() => (isOver = true))
  while (!isOver) {
    for (const pid of own.pids) process.kill(pid, 'SIGKILL')
    await Bun.sleep(5)
  }
  expect((await again).said.kind).toBe('unreadable')
  expect(own.lostInAll).toBe(3)
  own.stop()
}, 20_000)

test('a request after its deadline is rejected, and its process ends', async () => {
  const own = new Decoders()
  const file = await plain(7_000).png({ compressionLevel: 1 }).toBuffer()
  const untilMs = performance.now() + 150
  expect(own.decode(file, LOOK, { share: 'a', untilMs })).rejects.toThrow(TooLate)
  for (let i = 0; i < 200 && own.lostInAll === 0; i++) await Bun.sleep(20)
  expect([own.lostInAll, own.size]).toEqual([1, 0])
  expect((await own.decode(await plain(8).png().toBuffer(), LOOK, CLAIM)).said.kind).toBe('picture')
  own.stop()
}, 20_000)

test('idle decoders end, and a program ends without waiting for them', async () => {
  const own = new Decoders(undefined, 100)
  await own.decode(await plain(8).png().toBuffer(), LOOK, CLAIM)
  const [pid = 0] = own.pids
  expect(own.size).toBe(1)
  await Bun.sleep(500)
  expect(own.size).toBe(0)
  expect(() => process.kill(pid, 0)).toThrow()

  const script = `
    const { inspectPicture } = await import('${join(import.meta.dir, 'picture.ts')}')
    const sharp = (await import('${join(import.meta.dir, '../../../node_modules/sharp')}')).default
    const file = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#a05' } }).png().toBuffer()
    console.log((await inspectPicture(file, { share: 'a' })).kind)
  `
  const startedMs = performance.now()
  const child = Bun.spawn([process.execPath, '-e', script], { cwd: tmpdir(), stdout: 'pipe' })
  expect([await child.stdout.text(), await child.exited]).toEqual(['picture\n', 0])
  expect(performance.now() - startedMs).toBeLessThan(decoderBounds.idleMs)
}, 20_000)
