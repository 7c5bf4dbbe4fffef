import { expect, test } from 'bun:test'
import sharp from 'sharp'
import type { Canvas } from './paint.ts'
import { atEasel, decode, layOver, picture } from './picture.ts'

/** One pixel after the other: red, green, blue, alpha. */
const canvasOf = (width: number, ...pixels: [number, number, number, number][]): Canvas => ({
  width,
  height: pixels.length / width,
  pixels: new Uint8Array(pixels.flat()),
})
const listed = async (canvas: Promise<Canvas>): Promise<number[]> => [...(await canvas).pixels]

const base = canvasOf(2, [1, 2, 3, 255], [250, 0, 7, 255], [90, 91, 92, 255], [4, 5, 6, 255])
const upper = canvasOf(1, [100, 150, 200, 255])

test('an overlay shows in the holes of a mask, and nowhere else', async () => {
  const holes = canvasOf(2, [9, 9, 9, 127], [9, 9, 9, 128], [0, 0, 0, 0], [0, 0, 0, 255])
  const expected = [100, 150, 200, 255, 250, 0, 7, 255, 100, 150, 200, 255, 4, 5, 6, 255]
  expect(await listed(layOver(base, upper, holes))).toEqual(expected)
})

test('without a mask half of it shows everywhere', async () => {
  const shown = await listed(layOver(base, upper, undefined))
  const [red = 0, green = 0, blue = 0, alpha] = shown
  expect([red, green, blue].map((one, i) => Math.abs(one - [51, 76, 102][i]!) <= 1)).toEqual([true, true, true])
  expect([alpha, shown.length]).toEqual([255, 16])
})

test.each([
  [3_000, 2_000, 4_194_304],
  [640, 480, 640 * 480],
  [70, 64_000, 4_194_304],
])('a picture of %d × %d is scaled down to the limit', async (width, height, most) => {
  const made = sharp({ create: { width, height, channels: 3, background: '#a05' } })
  const read = await decode(await made.png().toBuffer())
  expect(read).toMatchObject({ fileWidth: width, fileHeight: height })
  expect((read?.width ?? Infinity) * (read?.height ?? Infinity)).toBeWithin(most * 0.8, most + 1)
})

test('a large picture has the requested size', async () => {
  const { width, height, pixels } = await picture('a lighthouse', {
    width: 3_840,
    height: 2_160,
    isTransparent: true,
    seed: 1,
  })
  expect([width, height, pixels.length]).toEqual([3_840, 2_160, 3_840 * 2_160 * 4])
})

test('two requests run at once, and none runs for a client that has left', async () => {
  const gate = Promise.withResolvers<void>()
  const begun: number[] = []
  const at = (number: number, signal?: AbortSignal): Promise<void> =>
    atEasel(signal, () => {
      begun.push(number)
      return gate.promise
    })
  const stop = new AbortController()
  const all = [at(1), at(2), at(3, stop.signal), at(4)]
  await Bun.sleep(1)
  expect(begun).toEqual([1, 2])
  stop.abort()
  gate.resolve()
  const ended = await Promise.allSettled(all)
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(begun).toEqual([1, 2, 4])
})
