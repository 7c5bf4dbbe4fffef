import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { shoot, type Film } from './film.ts'

// The largest film takes a second on a busy machine.
setDefaultTimeout(30_000)

const film = (of: Partial<Film> = {}): Film => ({
  width: 1280,
  height: 720,
  fps: 24,
  seconds: 5,
  seed: 1,
  audio: 'none',
  ...of,
})

describe('the boxes of a file, read by hand', () => {
  const films = [
    film(),
    film({ audio: 'silent' }),
    film({ width: 854, height: 480, seconds: 4, seed: 2 }),
    film({ width: 720, height: 1280, seconds: 6 }),
    film({ width: 1466, height: 628, seconds: 4, audio: 'silent' }),
    film({ width: 1920, height: 1080, seconds: 15, fps: 30 }),
    film({ width: 3840, height: 2160, seconds: 4, fps: 60 }),
    film({ width: 114, height: 64, seconds: 4, fps: 1 }),
  ]
  test.each(films)('%j', async (asked) => {
    const read = readMovie(await shoot(asked))
    const { width, height, fps, seconds } = asked
    expect(read.durationSeconds).toBe(seconds)
    expect(read.tracks.map(({ kind }) => kind)).toEqual(asked.audio === 'none' ? ['vide'] : ['vide', 'soun'])
    for (const track of read.tracks) {
      expect(track.sampleSeconds).toBeCloseTo(seconds, 9)
      expect(track.headerSeconds).toBe(seconds)
    }
    const [video] = read.tracks as [ReadTrack]
    expect(video.samples).toHaveLength(seconds * fps)
    expect(video.shown).toEqual([width, height])
    expect(video.coded).toEqual([width, height])
    expect(video.keys).toEqual(Array.from({ length: seconds }, (_, second) => second * fps + 1))
    for (const [index, sample] of video.samples.entries()) {
      expect(unitTypes(sample)).toEqual([video.keys.includes(index + 1) ? 5 : 1])
    }
    expect(read.bytesBesideSamples).toBe(0)
  })
})

test('the same film is the same file; another seed is another picture', async () => {
  const [one, same, other] = [await shoot(film()), await shoot(film()), await shoot(film({ seed: 2 }))]
  expect(Buffer.compare(one, same)).toBe(0)
  expect(Buffer.compare(one, other)).not.toBe(0)
})

test('files are small enough to keep many', async () => {
  expect((await shoot(film())).length).toBeLessThan(64 * 1024)
  expect((await shoot(film({ width: 3840, height: 2160, seconds: 15 }))).length).toBeLessThan(1024 * 1024)
})

// ---- A separate reader, written from the standards and not from the writer

type ReadTrack = {
  kind: string
  headerSeconds: number
  sampleSeconds: number
  samples: Uint8Array[]
  keys: number[]
  /** The size in the container, and in the sequence parameter set inside it. */
  shown: [number, number]
  coded: [number, number] | undefined
}
type Boxes = Map<string, Uint8Array[]>

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function boxesOf(bytes: Uint8Array): Boxes {
  const boxes: Boxes = new Map()
  for (let at = 0; at < bytes.length;) {
    const length = viewOf(bytes).getUint32(at)
    expect(length).toBeGreaterThanOrEqual(8)
    expect(at + length).toBeLessThanOrEqual(bytes.length)
    const type = Buffer.from(bytes.subarray(at + 4, at + 8)).toString('latin1')
    boxes.set(type, [...(boxes.get(type) ?? []), bytes.subarray(at + 8, at + length)])
    at += length
  }
  return boxes
}

function only(boxes: Boxes, type: string): Uint8Array {
  const [first, ...others] = boxes.get(type) ?? []
  expect(others).toEqual([])
  if (!first) throw new Error(`no ${type}`)
  return first
}

const within = (boxes: Boxes, ...path: string[]): Boxes =>
  path.reduce((inside, type) => boxesOf(only(inside, type)), boxes)

/** The entries of a table: version, flags and a count, then rows of 32-bit numbers. */
function rowsOf(box: Uint8Array, columns: number): number[][] {
  const view = viewOf(box)
  const rows = Array.from({ length: view.getUint32(4) }, (_, row) =>
    Array.from({ length: columns }, (__, column) => view.getUint32(8 + 4 * (row * columns + column))),
  )
  expect(box.length).toBe(8 + 4 * columns * rows.length)
  return rows
}

function readMovie(file: Uint8Array): { durationSeconds: number; tracks: ReadTrack[]; bytesBesideSamples: number } {
  const top = boxesOf(file)
  expect([...top.keys()]).toEqual(['ftyp', 'moov', 'mdat'])
  const movie = boxesOf(only(top, 'moov'))
  const header = viewOf(only(movie, 'mvhd'))
  const tracks = (movie.get('trak') ?? []).map((track) => readTrack(boxesOf(track), file))
  const sampled = tracks.flatMap(({ samples }) => samples).reduce((sum, { length }) => sum + length, 0)
  return {
    durationSeconds: header.getUint32(16) / header.getUint32(12),
    tracks,
    bytesBesideSamples: only(top, 'mdat').length - sampled,
  }
}

function readTrack(track: Boxes, file: Uint8Array): ReadTrack {
  const media = boxesOf(only(track, 'mdia'))
  const table = within(media, 'minf', 'stbl')
  const kind = Buffer.from(only(media, 'hdlr').subarray(8, 12)).toString('latin1')
  const clock = viewOf(only(media, 'mdhd'))
  const ticksPerSecond = clock.getUint32(12)
  const times = rowsOf(only(table, 'stts'), 2)
  const samples = samplesOf(table, file)
  expect(times.reduce((sum, [count = 0]) => sum + count, 0)).toBe(samples.length)
  const ticks = times.reduce((sum, [count = 0, delta = 0]) => sum + count * delta, 0)
  const shown = viewOf(only(track, 'tkhd'))
  return {
    kind,
    headerSeconds: clock.getUint32(16) / ticksPerSecond,
    sampleSeconds: ticks / ticksPerSecond,
    samples,
    keys: table.has('stss') ? rowsOf(only(table, 'stss'), 1).flat() : [],
    shown: [shown.getUint16(76), shown.getUint16(80)],
    coded: kind === 'vide' ? codedSides(only(table, 'stsd')) : undefined,
  }
}

/** Each sample, read from the position of its chunk in the file. */
function samplesOf(table: Boxes, file: Uint8Array): Uint8Array[] {
  const sizes = viewOf(only(table, 'stsz'))
  const runs = rowsOf(only(table, 'stsc'), 3)
  const samples: Uint8Array[] = []
  for (const [index, [offset = 0]] of rowsOf(only(table, 'stco'), 1).entries()) {
    const perChunk = runs.findLast(([first = 0]) => first <= index + 1)?.[1] ?? 0
    for (let i = 0, at = offset; i < perChunk; i++) {
      const length = sizes.getUint32(12 + 4 * samples.length)
      expect(at + length).toBeLessThanOrEqual(file.length)
      samples.push(file.subarray(at, at + length))
      at += length
    }
  }
  expect(samples).toHaveLength(sizes.getUint32(8))
  return samples
}

/** The type of every unit in a sample. Each follows its length, and together they fill the sample. */
function unitTypes(sample: Uint8Array): number[] {
  const types: number[] = []
  let at = 0
  while (at < sample.length) {
    types.push((sample[at + 4] ?? 0) & 31)
    at += 4 + viewOf(sample).getUint32(at)
  }
  expect(at).toBe(sample.length)
  return types
}

function codedSides(stsd: Uint8Array): [number, number] {
  const entry = only(boxesOf(stsd.subarray(8)), 'avc1')
  const configuration = only(boxesOf(entry.subarray(78)), 'avcC')
  const length = viewOf(configuration).getUint16(6)
  const text = Array.from(configuration.subarray(9, 8 + length), (byte) => byte.toString(2).padStart(8, '0')).join('')
  let at = 24
  const count = (): number => {
    const zeros = text.indexOf('1', at) - at
    const value = Number.parseInt(text.slice(at + zeros, at + 2 * zeros + 1), 2) - 1
    at += 2 * zeros + 1
    return value
  }
  const skip = (times: number): void => {
    for (let i = 0; i < times; i++) count()
  }
  skip(4)
  at += 1
  const [columns, rows] = [count() + 1, count() + 1]
  expect(text.slice(at, at + 3)).toBe('111')
  at += 3
  const [left, right, top, bottom] = [count(), count(), count(), count()]
  return [columns * 16 - 2 * (left + right), rows * 16 - 2 * (top + bottom)]
}
