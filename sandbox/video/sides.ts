/** Pixels of the shorter side at 16:9; what has that many pixels in all goes by the same name at any ratio. */
const EDGES = {
  '240p': 240,
  '360p': 360,
  '480p': 480,
  '540p': 540,
  '720p': 720,
  '1080p': 1_080,
  '2k': 1_440,
  '4k': 2_160,
}

export type ResolutionName = keyof typeof EDGES
export const resolutionNames = Object.keys(EDGES) as ResolutionName[]

export type Sides = { readonly width: number; readonly height: number }

/** `proportion` is width over height. */
export function videoSidesOf(resolution: ResolutionName, proportion: number): Sides {
  const pixels = (EDGES[resolution] ** 2 * 16) / 9
  return { width: even(Math.sqrt(pixels * proportion)), height: even(Math.sqrt(pixels / proportion)) }
}

/** `21:9` */
export function proportionOf(ratio: string): number {
  const [width = 16, height = 9] = ratio.split(':').map(Number)
  return width / height
}

/** The same picture with a shorter side of so many pixels. */
export function scaledTo(edge: number, { width, height }: Sides): Sides {
  const factor = edge / Math.min(width, height)
  return { width: even(width * factor), height: even(height * factor) }
}

/** Chroma has half the resolution: H.264 can say even sides only. */
const even = (side: number): number => 2 * Math.round(side / 2)
