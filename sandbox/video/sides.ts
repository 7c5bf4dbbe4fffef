/** The shorter side at 16:9 in pixels. A video of another ratio with the same number of pixels has the same name. */
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

/** The same picture with a shorter side of `edge` pixels. */
export function scaledTo(edge: number, { width, height }: Sides): Sides {
  const factor = edge / Math.min(width, height)
  return { width: even(width * factor), height: even(height * factor) }
}

/** Chroma has half the resolution, so H.264 allows only even sides. */
const even = (side: number): number => 2 * Math.round(side / 2)
