/**
 * Writes an MP4 file (ISO 14496-12, -14 and -15). The index precedes the data, so a player can start at once and seek.
 */

export type Sample = { readonly bytes: Uint8Array; readonly isKey: boolean }

type Sampling = { readonly ticksPerSecond: number; readonly samples: readonly Sample[] }

export type Track =
  | (Sampling & {
      readonly kind: 'video'
      readonly width: number
      readonly height: number
      readonly ticksPerSample: number
      readonly sequence: Uint8Array
      readonly picture: Uint8Array
    })
  | (Sampling & { readonly kind: 'audio'; readonly ticksPerSample: number })

type Part = Uint8Array | readonly number[]

const u16 = (value: number): readonly number[] => [(value >> 8) & 0xff, value & 0xff]
const u32 = (value: number): readonly number[] => [...u16(value >>> 16), ...u16(value & 0xffff)]
const zeros = (count: number): readonly number[] => Array.from({ length: count }, () => 0)
const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

function concat(parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function box(type: string, ...parts: readonly Part[]): Uint8Array {
  const body = concat(parts)
  return concat([u32(body.length + 8), ascii(type), body])
}

/** A box with a version, 0 here, and flags. */
const fullBox = (type: string, flags: number, ...parts: readonly Part[]): Uint8Array => box(type, u32(flags), ...parts)

const TICKS_PER_SECOND = 1_000
const UNITY_MATRIX = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].flatMap(u32)
/** ISO 639-2 in three times five bits: undetermined. */
const NO_LANGUAGE = u16(0x55c4)
/** All media data is in this file. */
const DATA_REFERENCE = box('dinf', fullBox('dref', 0, u32(1), fullBox('url ', 1)))

/** Interleaves the tracks second by second, so that data for the same time is together. */
export function writeMp4(tracks: readonly Track[], seconds: number): Uint8Array<ArrayBuffer> {
  const head = box('ftyp', ascii('isom'), u32(0x200), ascii('isomiso2avc1mp41'))
  const chunks = tracks.map((track) => chunksOf(track, seconds))
  // The index contains positions after itself. An index with all positions zero gives its length.
  const length = movie(tracks, chunks, { seconds, dataAt: 0 }).length
  const data = chunks[0]?.flatMap((_, second) => chunks.flatMap((of) => of[second]?.map(({ bytes }) => bytes) ?? []))
  const media = concat(data ?? [])
  const dataAt = head.length + length + 8
  return concat([head, movie(tracks, chunks, { seconds, dataAt }), u32(media.length + 8), ascii('mdat'), media])
}

/** The samples that begin in each second. */
const chunksOf = ({ samples, ticksPerSample, ticksPerSecond }: Track, seconds: number): readonly Sample[][] =>
  Array.from({ length: seconds }, (_, second) => {
    const first = (at: number): number => Math.ceil((at * ticksPerSecond) / ticksPerSample)
    return samples.slice(first(second), first(second + 1))
  })

type Chunks = readonly (readonly Sample[])[]
type Place = { readonly seconds: number; readonly dataAt: number }

function movie(tracks: readonly Track[], chunks: readonly Chunks[], { seconds, dataAt }: Place): Uint8Array {
  const offsets: number[][] = tracks.map(() => [])
  let at = dataAt
  for (let second = 0; second < seconds; second++) {
    for (const [index, of] of chunks.entries()) {
      offsets[index]?.push(at)
      at += bytesOf(of[second] ?? [])
    }
  }
  const header = fullBox(
    'mvhd',
    0,
    zeros(8),
    u32(TICKS_PER_SECOND),
    u32(seconds * TICKS_PER_SECOND),
    u32(0x10000),
    u16(0x100),
    zeros(10),
    UNITY_MATRIX,
    zeros(24),
    u32(tracks.length + 1),
  )
  const boxes = tracks.map((track, i) =>
    trackBox(track, i + 1, { seconds, chunks: chunks[i] ?? [], offsets: offsets[i] ?? [] }),
  )
  return box('moov', header, ...boxes)
}

const bytesOf = (samples: readonly Sample[]): number => samples.reduce((sum, { bytes }) => sum + bytes.length, 0)

type Layout = { readonly seconds: number; readonly chunks: Chunks; readonly offsets: readonly number[] }

function trackBox(track: Track, id: number, { seconds, chunks, offsets }: Layout): Uint8Array {
  const [width, height] = track.kind === 'video' ? [track.width, track.height] : [0, 0]
  const header = fullBox(
    'tkhd',
    0b11,
    zeros(8),
    u32(id),
    zeros(4),
    u32(seconds * TICKS_PER_SECOND),
    zeros(12),
    u16(track.kind === 'audio' ? 0x100 : 0),
    zeros(2),
    UNITY_MATRIX,
    u16(width),
    zeros(2),
    u16(height),
    zeros(2),
  )
  const media = fullBox(
    'mdhd',
    0,
    zeros(8),
    u32(track.ticksPerSecond),
    u32(seconds * track.ticksPerSecond),
    NO_LANGUAGE,
    zeros(2),
  )
  const isVideo = track.kind === 'video'
  const handler = fullBox('hdlr', 0, zeros(4), ascii(isVideo ? 'vide' : 'soun'), zeros(12), ascii('sandbox\0'))
  const about = isVideo ? fullBox('vmhd', 1, zeros(8)) : fullBox('smhd', 0, zeros(4))
  const table = box(
    'stbl',
    fullBox('stsd', 0, u32(1), isVideo ? videoEntry(track) : AUDIO_ENTRY),
    timesOf(track, seconds),
    ...(isVideo ? [keysOf(track)] : []),
    chunkSizes(chunks),
    fullBox('stsz', 0, zeros(4), u32(track.samples.length), ...track.samples.map(({ bytes }) => u32(bytes.length))),
    fullBox('stco', 0, u32(offsets.length), ...offsets.map(u32)),
  )
  return box('trak', header, box('mdia', media, handler, box('minf', about, DATA_REFERENCE, table)))
}

/** All samples have the same duration, except the last one, which ends with the video. */
function timesOf({ samples, ticksPerSample, ticksPerSecond }: Track, seconds: number): Uint8Array {
  const rest = seconds * ticksPerSecond - (samples.length - 1) * ticksPerSample
  if (rest === ticksPerSample) return fullBox('stts', 0, u32(1), u32(samples.length), u32(ticksPerSample))
  return fullBox('stts', 0, u32(2), u32(samples.length - 1), u32(ticksPerSample), u32(1), u32(rest))
}

function keysOf({ samples }: Track): Uint8Array {
  const keys = samples.flatMap(({ isKey }, index) => (isKey ? [index + 1] : []))
  return fullBox('stss', 0, u32(keys.length), ...keys.map(u32))
}

function chunkSizes(chunks: Chunks): Uint8Array {
  const runs = chunks.flatMap(({ length }, i) => (length === chunks[i - 1]?.length ? [] : [[i + 1, length, 1]]))
  return fullBox('stsc', 0, u32(runs.length), ...runs.flatMap((run) => run.map(u32)))
}

function videoEntry({ width, height, sequence, picture }: Extract<Track, { kind: 'video' }>): Uint8Array {
  const configuration = box(
    'avcC',
    [1, ...sequence.subarray(1, 4), 0b11111111, 0b11100001],
    u16(sequence.length),
    sequence,
    [1],
    u16(picture.length),
    picture,
  )
  const resolution = u32(0x480000) // 72 dots per inch, as is usual
  const about = [...zeros(6), ...u16(1), ...zeros(16), ...u16(width), ...u16(height)]
  return box('avc1', about, resolution, resolution, zeros(4), u16(1), zeros(32), u16(24), u16(0xffff), configuration)
}

export const AUDIO_TICKS_PER_SECOND = 48_000
export const AUDIO_TICKS_PER_SAMPLE = 1_024
/** A silent frame of AAC-LC with one channel: no gain, no band, no tool, the end. */
export const SILENCE = Uint8Array.from([0, 0, 0, 0b111])

const descriptor = (tag: number, ...parts: readonly Part[]): Uint8Array => {
  const body = concat(parts)
  return concat([[tag, body.length], body])
}

/** AAC-LC (2), 48 kHz (3), one channel: 00010 0011 0001 000. */
const AAC_CONFIGURATION = descriptor(5, [0x11, 0x88])
const AUDIO_ENTRY = box(
  'mp4a',
  [...zeros(6), ...u16(1), ...zeros(8), ...u16(1), ...u16(16), ...zeros(4)],
  u32(AUDIO_TICKS_PER_SECOND << 16),
  fullBox(
    'esds',
    0,
    descriptor(3, u16(0), [0], descriptor(4, [0x40, 0x15], zeros(11), AAC_CONFIGURATION), descriptor(6, [2])),
  ),
)
