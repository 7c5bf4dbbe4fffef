/** Bombs for image decoders: edits with one of them, for a model that accepts any image. */
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import type { Bomb } from './bomb.ts'
import { pictureBombs, withMetadata } from './pictures.ts'

const MB = 1_000_000
/** Larger ones are sent by test/load/picture-bombs.test.ts: as text in JSON they would be slow for their length. */
const FILE_BYTES_MAX = 2 * MB

const edit = (name: string, file: Buffer): Bomb => ({
  name,
  path: '/v1/images/edits',
  body: {
    model: 'sandbox-image',
    prompt: 'a door',
    quality: 'low',
    images: [{ image_url: `data:image/png;base64,${file.toString('base64')}` }],
  },
})

const files = [...pictureBombs('small')].filter(({ file }) => file.length < FILE_BYTES_MAX)

export const knownPictureBombs: readonly Bomb[] = files.map(({ name, file }) => edit(name, file))

/** Parts that unpack to megabytes, in any place that has room for them. */
const unpacking: fc.Arbitrary<Buffer> = fc
  .record({
    format: fc.constantFrom('png' as const, 'jpeg' as const, 'webp' as const),
    type: fc.nat(100),
    head: fc.constantFrom(
      'k\0\0',
      'k\0\x01\0\0\0',
      'Exif\0\0MM\0*',
      'ICC_PROFILE\0\x01\xff',
      'Adobe\0d\0\0\0\0\x01',
      '',
    ),
    megabytes: fc.integer({ min: 0, max: 8 }),
    count: fc.integer({ min: 1, max: 200 }),
  })
  .map(({ format, type, head, megabytes, count }) => {
    const data = Buffer.concat([Buffer.from(head, 'latin1'), deflateSync(Buffer.alloc(megabytes * MB), { level: 9 })])
    return withMetadata(format, type, { data, count: Math.min(count, Math.floor(FILE_BYTES_MAX / (data.length + 20))) })
  })

/** Files of which a few bytes are others, or which end early. */
const broken: fc.Arbitrary<Buffer> = fc
  .record({
    file: fc.constantFrom(...files.map((one) => one.file)),
    changes: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 }),
    length: fc.option(fc.nat(), { freq: 4 }),
  })
  .map(({ file, changes, length }) => {
    const changed = Buffer.from(length === null ? file : file.subarray(0, 1 + (length % file.length)))
    // Heads are at the front, where a change means most.
    for (const [at, value] of changes) changed[at % Math.min(changed.length, 1_000)] = value
    return changed
  })

export const pictureBombsLike: fc.Arbitrary<Bomb> = fc.oneof(unpacking, broken).map((file) => edit('a picture', file))
