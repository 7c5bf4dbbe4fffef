import { hashOf, randomFrom } from '../random.ts'

/** Pixels, four bytes each: red, green, blue, alpha. */
export type Canvas = { width: number; height: number; pixels: Uint8Array }

type Color = readonly [red: number, green: number, blue: number]
type Shape = { x: number; y: number; radius: number; color: Color; isRound: boolean }

export type PaintOptions = { width: number; height: number; isTransparent: boolean; seed: number }

const SHAPES = 9

/**
 * A picture that follows from the prompt: a sky between two colours, with discs and squares. Another prompt or seed
 * gives other colours and shapes. Without a background, there are only the shapes.
 */
export function paint(prompt: string, { width, height, isTransparent, seed }: PaintOptions): Canvas {
  const random = randomFrom(hashOf(prompt, seed))
  const color = (): Color => [random.below(256), random.below(256), random.below(256)]
  const [top, bottom] = [color(), color()]
  const side = Math.min(width, height)
  const shapes = Array.from({ length: SHAPES }, (): Shape => {
    const radius = side * (0.05 + random.next() * 0.2)
    const [x, y] = [random.next() * width, random.next() * height]
    return { x, y, radius, color: color(), isRound: random.next() < 0.6 }
  })
  const canvas = { width, height, pixels: new Uint8Array(width * height * 4) }
  if (!isTransparent) sky(canvas, top, bottom)
  for (const shape of shapes) draw(canvas, shape)
  return canvas
}

function sky({ width, height, pixels }: Canvas, top: Color, bottom: Color): void {
  for (let y = 0; y < height; y++) {
    const share = y / height
    const [red, green, blue] = top.map((from, i) => Math.round(from * (1 - share) + (bottom[i] ?? 0) * share))
    pixels.set(stripe([red ?? 0, green ?? 0, blue ?? 0], width), y * width * 4)
  }
}

function draw({ width, height, pixels }: Canvas, { x, y, radius, color, isRound }: Shape): void {
  const line = stripe(color, Math.min(width, Math.ceil(2 * radius) + 1))
  const rows = [Math.max(0, Math.ceil(y - radius)), Math.min(height, Math.floor(y + radius))] as const
  for (let row = rows[0]; row < rows[1]; row++) {
    const half = isRound ? Math.sqrt(Math.max(0, radius * radius - (row - y) * (row - y))) : radius
    const from = Math.max(0, Math.ceil(x - half))
    const to = Math.min(width, Math.floor(x + half))
    if (to > from) pixels.set(line.subarray(0, (to - from) * 4), (row * width + from) * 4)
  }
}

/** A stripe of one colour. Each copy doubles its length. */
function stripe(color: Color, count: number): Uint8Array {
  const pixels = new Uint8Array(count * 4)
  pixels.set([...color, 255])
  for (let filled = 4; filled < pixels.length; filled *= 2) pixels.copyWithin(filled, 0, filled)
  return pixels
}
