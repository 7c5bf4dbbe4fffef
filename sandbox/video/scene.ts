import { randomFrom, type Random } from '../random.ts'
import { BLOCK_PIXELS, blocksAcross, type MosaicColor, type MosaicFormat } from './mosaic.ts'

/** Positions and sizes are relative to the shorter side, so a scene looks the same at any resolution. */
type Disc = { readonly x: number; readonly y: number; readonly radius: number; readonly color: MosaicColor }

const DISCS = 6
const MOVER_RADIUS = 0.16
const BAR_SHARE = 0.035
/** BT.709 within 16…235: white, and a dark grey. */
const BAR_DONE: MosaicColor = 0xeb8080
const BAR_LEFT: MosaicColor = 0x308080

/**
 * The scene of a video: a sky between two colours, still discs, one moving disc, and a progress bar at the bottom. The
 * bar fills from the first second to the last, so a frame shows its position in the video. All follows from the seed.
 */
export class VideoScene {
  readonly blocks: Int32Array
  readonly seconds: number
  readonly #still: Int32Array
  readonly #columns: number
  readonly #rows: number
  readonly #barRows: number
  readonly #unit: number
  readonly #mover: Mover
  #at: Disc
  #filled = 0

  constructor({ width, height }: MosaicFormat, seconds: number, seed: number) {
    this.seconds = seconds
    const random = randomFrom(seed)
    this.#columns = blocksAcross(width)
    this.#rows = blocksAcross(height)
    this.#unit = BLOCK_PIXELS / Math.min(width, height)
    this.#barRows = this.#rows - Math.floor((height * (1 - BAR_SHARE)) / BLOCK_PIXELS)
    this.#still = this.#paintStill(random)
    this.blocks = this.#still.slice()
    this.#mover = moverOf(random, this.#columns * this.#unit, (this.#rows - this.#barRows) * this.#unit)
    this.#at = placeOf(this.#mover, 0)
    this.#draw(this.#at)
  }

  /** Moves the scene to a time. Returns the changed blocks in rising order. */
  moveTo(second: number): number[] {
    const [from, to] = [this.#at, placeOf(this.#mover, second)]
    this.#at = to
    const changed: number[] = []
    const [top, bottom] = this.#rowsOf(from, to)
    for (let row = top; row < bottom; row++) this.#moveInRow(row, from, to, changed)
    const filled = Math.min(this.#columns, Math.ceil((second / this.seconds) * this.#columns))
    for (let row = this.#rows - this.#barRows; row < this.#rows; row++) {
      for (let column = this.#filled; column < filled; column++) {
        this.blocks[row * this.#columns + column] = BAR_DONE
        changed.push(row * this.#columns + column)
      }
    }
    this.#filled = filled
    return changed
  }

  #moveInRow(row: number, from: Disc, to: Disc, changed: number[]): void {
    const [left, right] = this.#columnsOf(from, to)
    for (let column = left; column < right; column++) {
      const block = row * this.#columns + column
      const color = this.#isIn(to, column, row) ? to.color : (this.#still[block] ?? 0)
      if (this.blocks[block] === color) continue
      this.blocks[block] = color
      changed.push(block)
    }
  }

  #paintStill(random: Random): Int32Array {
    const blocks = new Int32Array(this.#columns * this.#rows)
    const [top, bottom] = [colorOf(random), colorOf(random)]
    const discs = Array.from({ length: DISCS }, () => ({
      x: random.next() * this.#columns * this.#unit,
      y: random.next() * this.#rows * this.#unit,
      radius: 0.06 + random.next() * 0.2,
      color: colorOf(random),
    }))
    for (let row = 0; row < this.#rows; row++) {
      const sky = blend(top, bottom, row / this.#rows)
      const isBar = row >= this.#rows - this.#barRows
      blocks.fill(isBar ? BAR_LEFT : sky, row * this.#columns, (row + 1) * this.#columns)
      if (isBar) continue
      for (let column = 0; column < this.#columns; column++) {
        const disc = discs.find((one) => this.#isIn(one, column, row))
        if (disc) blocks[row * this.#columns + column] = disc.color
      }
    }
    return blocks
  }

  #draw(disc: Disc): void {
    const [top, bottom] = this.#rowsOf(disc, disc)
    for (let row = top; row < bottom; row++) this.#moveInRow(row, disc, disc, [])
  }

  #isIn({ x, y, radius }: Disc, column: number, row: number): boolean {
    return Math.hypot((column + 0.5) * this.#unit - x, (row + 0.5) * this.#unit - y) < radius
  }

  #rowsOf(from: Disc, to: Disc): [number, number] {
    const top = Math.floor((Math.min(from.y, to.y) - to.radius) / this.#unit)
    const bottom = Math.ceil((Math.max(from.y, to.y) + to.radius) / this.#unit)
    return [Math.max(0, top), Math.min(this.#rows - this.#barRows, bottom)]
  }

  #columnsOf(from: Disc, to: Disc): [number, number] {
    const left = Math.floor((Math.min(from.x, to.x) - to.radius) / this.#unit)
    const right = Math.ceil((Math.max(from.x, to.x) + to.radius) / this.#unit)
    return [Math.max(0, left), Math.min(this.#columns, right)]
  }
}

/** The moving disc swings with two different periods. */
type Mover = {
  readonly color: MosaicColor
  readonly center: readonly [x: number, y: number]
  readonly swing: readonly [x: number, y: number]
  readonly turnsPerSecond: readonly [x: number, y: number]
  readonly phase: number
}

function moverOf(random: Random, width: number, height: number): Mover {
  const rate = (): number => 0.1 + random.next() * 0.2
  return {
    color: colorOf(random),
    center: [width / 2, height / 2],
    swing: [width / 2 - MOVER_RADIUS, height / 2 - MOVER_RADIUS],
    turnsPerSecond: [rate(), rate()],
    phase: random.next(),
  }
}

function placeOf({ center, swing, turnsPerSecond, phase, color }: Mover, second: number): Disc {
  const along = (turns: number): number => Math.sin(2 * Math.PI * (turns * second + phase))
  const x = center[0] + swing[0] * along(turnsPerSecond[0])
  return { x, y: center[1] + swing[1] * along(turnsPerSecond[1]), radius: MOVER_RADIUS, color }
}

/** A colour within the limited range of luma and chroma. */
const colorOf = (random: Random): MosaicColor =>
  ((40 + random.below(180)) << 16) | ((40 + random.below(176)) << 8) | (40 + random.below(176))

function blend(from: MosaicColor, to: MosaicColor, share: number): MosaicColor {
  const mixed = (shift: number): number => {
    const [a, b] = [(from >> shift) & 0xff, (to >> shift) & 0xff]
    return Math.round(a + (b - a) * share) << shift
  }
  return mixed(16) | mixed(8) | mixed(0)
}
