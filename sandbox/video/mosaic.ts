/**
 * The part of H.264 that a mosaic needs: Constrained Baseline, with macroblocks (16 × 16 pixels) of one colour each.
 *
 * A macroblock is predicted from the one above or to the left, which also has one colour. So one coefficient for luma
 * and one for each chroma give the difference. The quantiser makes one step of a coefficient one step of a colour: the
 * scale at 28 is 256 × 2^(28/6 - 6) = 64, by which the transform divides. Chroma has a sum of two more bits, hence its
 * offset of -6. There is no rounding, no drift and no filter. Unchanged blocks are skipped: a frame without movement
 * has 7 bytes.
 */
import { Bits, unitOf } from './bits.ts'

export const BLOCK_PIXELS = 16

/** Luma, blue and red difference, eight bits each. */
export type MosaicColor = number

export type MosaicFormat = { readonly width: number; readonly height: number; readonly fps: number }

const QUANTISER = 28
const QUANTISER_CHROMA_OFFSET = -6
const MID_GREY: MosaicColor = 0x808080

const unitLead = { key: 0x65, change: 0x61, sequence: 0x67, picture: 0x68 } as const
const PROFILE = 66
/** Baseline that is also Main: constraint sets 0 and 1. */
const CONSTRAINTS = 0xc0

/** Level, macroblocks a second, macroblocks a frame (Rec. H.264, table A-1). */
const LEVELS = [
  [30, 40_500, 1_620],
  [31, 108_000, 3_600],
  [40, 245_760, 8_192],
  [50, 589_824, 22_080],
  [51, 983_040, 36_864],
  [52, 2_073_600, 36_864],
  [60, 4_177_920, 139_264],
] as const
const LEVEL_HIGHEST = 62

export const blocksAcross = (pixels: number): number => Math.ceil(pixels / BLOCK_PIXELS)

function levelOf({ width, height, fps }: MosaicFormat): number {
  const blocks = blocksAcross(width) * blocksAcross(height)
  return LEVELS.find(([, rate, size]) => blocks * fps <= rate && blocks <= size)?.[0] ?? LEVEL_HIGHEST
}

/** The parameters that a decoder needs before the first frame, of the sequence and of the picture. */
export type ParameterSets = { readonly sequence: Uint8Array; readonly picture: Uint8Array }

export function parameterSets(format: MosaicFormat): ParameterSets {
  return { sequence: sequenceSet(format), picture: pictureSet() }
}

function sequenceSet(format: MosaicFormat): Uint8Array {
  const { width, height } = format
  const bits = new Bits()
  bits.put(PROFILE, 8)
  bits.put(CONSTRAINTS, 8)
  bits.put(levelOf(format), 8)
  bits.putCount(0) // its id
  bits.putCount(FRAME_NUMBER_BITS - 4)
  bits.putCount(2) // shown in the order they are decoded
  bits.putCount(1) // frames to remember
  bits.put(0, 1)
  bits.putCount(blocksAcross(width) - 1)
  bits.putCount(blocksAcross(height) - 1)
  bits.put(0b11, 2) // whole frames, 8 × 8 inference
  bits.put(1, 1) // what of the last blocks is cut off, in steps of two pixels
  bits.putCount(0)
  bits.putCount((blocksAcross(width) * BLOCK_PIXELS - width) / 2)
  bits.putCount(0)
  bits.putCount((blocksAcross(height) * BLOCK_PIXELS - height) / 2)
  putUsability(bits, format.fps)
  return unitOf(unitLead.sequence, bits.end())
}

/** Square pixels, BT.709, the frame rate, and no reordering. */
function putUsability(bits: Bits, fps: number): void {
  bits.put(1, 1)
  bits.put(1, 1)
  bits.put(1, 8)
  bits.put(0, 1)
  bits.put(0b1_101_0_1, 6)
  for (let i = 0; i < 3; i++) bits.put(1, 8)
  bits.put(0, 1)
  bits.put(1, 1)
  for (const half of [0, 1, 0, 2 * fps]) bits.put(half, 16)
  bits.put(1, 1)
  bits.put(0b000, 3)
  bits.put(0b11, 2)
  for (const limit of [0, 0, 0, 0, 0, 1]) bits.putCount(limit)
}

function pictureSet(): Uint8Array {
  const bits = new Bits()
  bits.putCount(0)
  bits.putCount(0)
  bits.put(0b00, 2) // variable-length codes, one picture order
  bits.putCount(0) // one group of slices
  bits.putCount(0)
  bits.putCount(0)
  bits.put(0b000, 3)
  bits.putSigned(QUANTISER - 26)
  bits.putSigned(0)
  bits.putSigned(QUANTISER_CHROMA_OFFSET)
  bits.put(0b100, 3) // slices say whether they are filtered
  return unitOf(unitLead.picture, bits.end())
}

const FRAME_NUMBER_BITS = 8
const NOT_FILTERED = 1

/** Encodes frames in sequence. `blocks` is the picture, row by row. The caller changes it between frames. */
export class MosaicEncoder {
  readonly blocks: Int32Array
  readonly #columns: number
  readonly #bits = new Bits()
  #frameNumber = 0
  #keys = 0

  constructor({ width }: MosaicFormat, blocks: Int32Array) {
    this.blocks = blocks
    this.#columns = blocksAcross(width)
  }

  /** Encodes a frame that needs no other frame. */
  encodeKey(): Uint8Array {
    this.#frameNumber = 0
    const bits = this.#bits
    bits.putCount(0)
    bits.putCount(7)
    bits.putCount(0)
    bits.put(0, FRAME_NUMBER_BITS)
    bits.putCount(this.#keys % 2) // differs between neighbours
    bits.put(0b00, 2)
    this.#keys += 1
    bits.putSigned(0)
    bits.putCount(NOT_FILTERED)
    for (let at = 0; at < this.blocks.length; at++) this.#putBlock(at, 0)
    return unitOf(unitLead.key, bits.end())
  }

  /** Encodes a frame that differs from the one before only in these blocks, in rising order. */
  encodeChange(changed: readonly number[]): Uint8Array {
    this.#frameNumber = (this.#frameNumber + 1) % 2 ** FRAME_NUMBER_BITS
    const bits = this.#bits
    bits.putCount(0)
    bits.putCount(5)
    bits.putCount(0)
    bits.put(this.#frameNumber, FRAME_NUMBER_BITS)
    bits.put(0b000, 3)
    bits.putSigned(0)
    bits.putCount(NOT_FILTERED)
    let next = 0
    for (const at of changed) {
      bits.putCount(at - next)
      this.#putBlock(at, 5)
      next = at + 1
    }
    if (next < this.blocks.length) bits.putCount(this.blocks.length - next)
    return unitOf(unitLead.change, bits.end())
  }

  /** `typeOffset`: the first type number of such blocks in this kind of slice. */
  #putBlock(at: number, typeOffset: number): void {
    const { blocks } = this
    const color = blocks[at] ?? 0
    const left = at % this.#columns === 0 ? undefined : blocks[at - 1]
    const above = at < this.#columns ? undefined : blocks[at - this.#columns]
    const isFromLeft = above === undefined || (above !== color && left === color)
    const from = isFromLeft ? left : above
    const [lumaMode, chromaMode] = from === undefined ? [2, 0] : isFromLeft ? [1, 1] : [0, 2]
    const given = from ?? MID_GREY
    const luma = (color >> 16) - (given >> 16)
    const blue = ((color >> 8) & 0xff) - ((given >> 8) & 0xff)
    const red = (color & 0xff) - (given & 0xff)
    const hasChroma = blue !== 0 || red !== 0
    const bits = this.#bits
    bits.putCount(typeOffset + 1 + lumaMode + (hasChroma ? 4 : 0))
    bits.putCount(chromaMode)
    bits.putSigned(0)
    putLuma(bits, luma)
    if (hasChroma) {
      putChroma(bits, blue)
      putChroma(bits, red)
    }
  }
}

/** The first of sixteen coefficients. All others are zero, also in the neighbours. */
function putLuma(bits: Bits, level: number): void {
  if (level === 0) return bits.put(1, 1)
  if (Math.abs(level) === 1) bits.put(level > 0 ? 0b010 : 0b011, 3)
  else {
    bits.put(0b000101, 6)
    putLevel(bits, level)
  }
  bits.put(1, 1)
}

/** The first of four. */
function putChroma(bits: Bits, level: number): void {
  if (level === 0) return bits.put(0b01, 2)
  if (Math.abs(level) === 1) bits.put(level > 0 ? 0b10 : 0b11, 2)
  else {
    bits.put(0b000111, 6)
    putLevel(bits, level)
  }
  bits.put(1, 1)
}

/** A coefficient beyond ±1: a run of zeros by its level, or an escape and its bits. */
function putLevel(bits: Bits, level: number): void {
  const code = level > 0 ? 2 * level - 4 : -2 * level - 3
  if (code < 14) return bits.put(1, code + 1)
  bits.put(1, code < 30 ? 15 : 16)
  if (code < 30) bits.put(code - 14, 4)
  else bits.put(code - 30, 12)
}
