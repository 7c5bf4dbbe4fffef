/** Files in S3 through their port: what is stored, what is read, and every way in which the server fails or lies. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FinishedBlob, UnfinishedBlob } from '../../src/blobs/blobs.ts'
import { s3Bounds } from '../../src/blobs/bucket-bounds.ts'
import { bucketAddress } from '../../src/blobs/s3-client.ts'
import { MIB } from '../../src/lib/primitives/units.ts'
import { shifted, written } from '../../src/store/port-contract.ts'
import { find, image, openFile, openS3Port, PREFIX, readAll, video, type S3Port } from '../support/s3-port.ts'
import type { S3Fault, S3Operation } from '../support/s3.ts'

let e: S3Port
const bounds = { ...s3Bounds }
beforeEach(async () => {
  Object.assign(s3Bounds, bounds)
  e = await openS3Port()
  await e.port.recover()
})
afterEach(() => e.close())

const taskId = (): string => `task_${randomBytes(16).toString('hex')}`
const keyOf = (id: string): string => PREFIX + createHash('sha256').update(id).digest('hex')

/** Faults for the next requests of one operation, in order. */
function failing(operation: S3Operation, faults: readonly (S3Fault | undefined)[]): void {
  const left = [...faults]
  e.s3.plan = (request) => (request.operation === operation ? left.shift() : undefined)
}
const always = (operation: S3Operation, fault: S3Fault): void => {
  e.s3.plan = (request) => (request.operation === operation ? fault : undefined)
}
const down: S3Fault = { kind: 'error', status: 503, code: 'SlowDown' }

async function begun(bytes: Buffer, id = taskId()): Promise<{ id: string; file: UnfinishedBlob }> {
  const file = e.port.begin(id, video)
  await writeFile(file.path, bytes)
  return { id, file }
}

const good = (finished: FinishedBlob): Extract<FinishedBlob, { kind: 'finished' }> => {
  if (finished.kind === 'failed') throw new Error(finished.message)
  return finished
}

async function stored(bytes: Buffer): Promise<string> {
  const { id, file } = await begun(bytes)
  await written(e, good(await file.finish()).steps)
  e.s3.requests.length = 0
  return id
}

async function picture(bytes: Buffer): Promise<string> {
  const id = await e.port.put(bytes, image)
  if (id === undefined) throw new Error('it was not stored')
  return id
}

describe('Storing', () => {
  test('a small file is one request, and a large one is an upload in parts', async () => {
    const small = await begun(randomBytes(70_000))
    expect(await small.file.finish()).toMatchObject({ kind: 'finished', bytes: 70_000 })
    expect(e.s3.operations).toEqual(['PutObject', 'HeadObject'])
    e.s3.requests.length = 0
    const bytes = randomBytes(20 * MIB + 1)
    const large = await begun(bytes)
    await written(e, good(await large.file.finish()).steps)
    const parts = ['UploadPart', 'UploadPart', 'UploadPart'] as const
    expect(e.s3.operations).toEqual(['CreateMultipartUpload', ...parts, 'CompleteMultipartUpload', 'HeadObject'])
    expect(e.s3.objects.get(keyOf(large.id))).toMatchObject({ contentType: 'video/mp4' })
    expect(Buffer.compare(await readAll(await find(e.port, large.id, 'video')), bytes)).toBe(0)
    // Nothing is left on this machine.
    expect(readdirSync(join(e.folder, 'scratch'))).toEqual([])
    expect(existsSync(join(e.folder, 'blobs'))).toBe(false)
    expect(e.s3.refusals).toEqual([])
  })

  test('a request that fails for a moment is sent again', async () => {
    for (const operation of ['CreateMultipartUpload', 'UploadPart', 'CompleteMultipartUpload', 'HeadObject'] as const) {
      const { id, file } = await begun(randomBytes(9 * MIB))
      failing(operation, [down, { kind: 'reset' }])
      expect([operation, (await file.finish()).kind]).toEqual([operation, 'finished'])
      expect(e.s3.objects.get(keyOf(id))?.bytes.length).toBe(9 * MIB)
    }
    failing('PutObject', [{ kind: 'reset' }, down])
    expect(await e.port.put(randomBytes(10), image)).toBeString()
    expect(e.port.isShortOfRoom).toBe(false)
  }, 20_000)

  test('a file that cannot be stored stays here, and can be stored later', async () => {
    const bytes = randomBytes(9 * MIB)
    const { id, file } = await begun(bytes)
    always('UploadPart', down)
    const failed = await file.finish()
    expect(failed).toMatchObject({ kind: 'failed', message: 'the server answered 503 SlowDown' })
    expect(e.s3.operations.filter((one) => one === 'UploadPart').length).toBe(s3Bounds.triesMax)
    // Its parts are not left behind, and nobody can fetch it.
    expect([e.s3.uploads.size, e.s3.objects.size]).toEqual([0, 0])
    expect((await e.port.find(id, 'video')).kind).toBe('unknown')
    e.s3.plan = () => undefined
    await written(e, good(await file.finish()).steps)
    expect(Buffer.compare(await readAll(await find(e.port, id, 'video')), bytes)).toBe(0)
  })

  test('an upload whose end was not answered is asked about', async () => {
    const { id, file } = await begun(randomBytes(9 * MIB))
    failing('CompleteMultipartUpload', [{ kind: 'served_unanswered' }])
    expect(await file.finish()).toMatchObject({ kind: 'finished', bytes: 9 * MIB })
    expect(e.s3.objects.has(keyOf(id))).toBe(true)
    expect(e.s3.refusals).toEqual(['NoSuchUpload'])
  })

  test('an upload that ends with an error in a good answer was not stored', async () => {
    const { file } = await begun(randomBytes(9 * MIB))
    always('CompleteMultipartUpload', { kind: 'error_in_200', code: 'InternalError' })
    expect((await file.finish()).kind).toBe('failed')
    expect([e.s3.objects.size, e.s3.uploads.size]).toEqual([0, 0])
  })

  test('a server that loses or shortens what it confirmed is not believed', async () => {
    const lost = await begun(randomBytes(1_000))
    e.s3.plan = ({ operation, key }) => {
      if (operation === 'HeadObject') e.s3.objects.delete(key)
      return undefined
    }
    expect((await lost.file.finish()).kind).toBe('failed')
    e.s3.plan = ({ operation, key }) => {
      if (operation === 'HeadObject') e.s3.store(key, randomBytes(999))
      return undefined
    }
    expect(await lost.file.finish()).toMatchObject({
      kind: 'failed',
      message: 'the stored object has 999 bytes instead of 1000',
    })
  })

  test('a silent server fails in bounded time, and a stop ends an upload at once', async () => {
    Object.assign(s3Bounds, { stallMs: 100 })
    const { file } = await begun(randomBytes(9 * MIB))
    always('UploadPart', { kind: 'silent' })
    expect(await file.finish()).toMatchObject({ kind: 'failed', message: 'the server does not answer in time' })
    Object.assign(s3Bounds, { stallMs: 60_000 })
    const flights = new Set<{ abort(): void }>()
    const halt = {
      upstreamStopped: false,
      took: (flight: { abort(): void }) => void flights.add(flight),
      landed: (flight: { abort(): void }) => void flights.delete(flight),
    }
    const finishing = file.finish(halt)
    while (e.s3.operations.filter((one) => one === 'UploadPart').length < s3Bounds.triesMax + 1) await Bun.sleep(5)
    halt.upstreamStopped = true
    for (const flight of flights) flight.abort()
    expect((await finishing).kind).toBe('failed')
    expect(flights.size).toBe(0)
  }, 20_000)

  test('while nothing can be stored nothing is begun, until it can be again; each change is logged once', async () => {
    always('PutObject', down)
    expect(await e.port.put(randomBytes(10), image)).toBeUndefined()
    expect(e.port.isShortOfRoom).toBe(true)
    await e.port.tend()
    expect(e.port.isShortOfRoom).toBe(true)
    expect(await e.port.put(randomBytes(10), image)).toBeUndefined()
    e.s3.plan = () => undefined
    await e.port.tend()
    expect(e.port.isShortOfRoom).toBe(false)
    expect(e.lines.map(({ event }) => event)).toEqual(['blobs.storage_failing', 'blobs.storage_works'])
    expect(e.lines[0]?.fields).toMatchObject({ code: 'SlowDown', status: 503, step: 'store' })
    e.room.isShort = true
    expect(e.port.isShortOfRoom).toBe(true)
    // The small file of the check is gone.
    expect(e.s3.objects.size).toBe(0)
  }, 20_000)

  test('a start leaves scratch files of a living process alone, and removes forgotten ones', async () => {
    const [living, forgotten] = [await begun(randomBytes(10)), await begun(randomBytes(10))]
    const longAgo = new Date(Date.now() - 2 * s3Bounds.scratchMs)
    await utimes(forgotten.file.path, longAgo, longAgo)
    await (await e.reopen()).recover()
    expect([existsSync(living.file.path), existsSync(forgotten.file.path)]).toEqual([true, false])
  })
})

describe('Reading', () => {
  test('a range is asked for as a range, a whole file as a whole, and a question costs no bytes', async () => {
    const bytes = randomBytes(100_000)
    const id = await stored(bytes)
    const blob = await find(e.port, id, 'video')
    const part = await blob.open({ from: 500, to: 599 })
    const piece = Buffer.alloc(100)
    expect(typeof part === 'object' && (await part.read(piece, 500))).toBe(100)
    expect(piece).toEqual(bytes.subarray(500, 600))
    expect(await readAll(blob)).toEqual(bytes)
    const sent = e.s3.sentBytes
    expect(await blob.open({ from: 0, to: -1 })).toBeObject()
    expect(e.s3.sentBytes).toBe(sent)
    expect(e.s3.requests.map(({ operation, headers }) => [operation, headers['range']])).toEqual([
      ['GetObject', 'bytes=500-599'],
      ['GetObject', undefined],
      ['HeadObject', undefined],
    ])
  })

  test('what cannot be read is told before the first byte', async () => {
    Object.assign(s3Bounds, { stallMs: 100 })
    const blob = await find(e.port, await stored(randomBytes(1_000)), 'video')
    const faults: readonly S3Fault[] = [
      down,
      { kind: 'reset' },
      { kind: 'silent' },
      { kind: 'error', status: 403, code: 'AccessDenied' },
      { kind: 'error', status: 404, code: 'NoSuchBucket' },
      { kind: 'error_in_200', code: 'InternalError' },
    ]
    for (const fault of faults) {
      always('GetObject', fault)
      const opened = await blob.open()
      // An error in a good answer has another length than the file.
      const expected = fault.kind === 'error_in_200' ? 'damaged' : 'unavailable'
      expect([fault, opened]).toEqual([fault, expected])
    }
    // One failure for a moment is not told.
    failing('GetObject', [{ kind: 'reset' }])
    expect(await blob.open()).toBeObject()
  }, 20_000)

  test('a redirect is not followed', async () => {
    const seen: string[] = []
    const other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        seen.push(request.method)
        return new Response('x'.repeat(1_000))
      },
    })
    const blob = await find(e.port, await stored(randomBytes(1_000)), 'video')
    e.s3.plan = () => ({ kind: 'redirect', location: `http://127.0.0.1:${other.port}/` })
    expect(await blob.open()).toBe('unavailable')
    expect(await e.port.put(randomBytes(10), image)).toBeUndefined()
    expect(seen).toEqual([])
    expect(await e.port.examine()).toContain('the server redirects, which is not followed')
    await other.stop(true)
  })

  test('an object that is gone, that changed its length, or that ignores a range is told apart', async () => {
    const id = await stored(randomBytes(1_000))
    const blob = await find(e.port, id, 'video')
    always('GetObject', { kind: 'whole' })
    expect(await blob.open({ from: 5, to: 9 })).toBe('unavailable')
    e.s3.plan = () => undefined
    e.s3.store(keyOf(id), randomBytes(1_001))
    for (const part of [
      { from: 5, to: 9 },
      { from: 0, to: 999 },
      { from: 0, to: -1 },
    ]) {
      expect(await blob.open(part)).toBe('damaged')
    }
    e.s3.objects.delete(keyOf(id))
    for (const part of [
      { from: 5, to: 9 },
      { from: 0, to: 999 },
      { from: 0, to: -1 },
    ]) {
      expect(await blob.open(part)).toBeUndefined()
    }
    expect(new Set(e.lines.map(({ event }) => event))).toEqual(
      new Set(['blobs.storage_failing', 'blobs.file_damaged', 'blobs.file_missing']),
    )
    expect(JSON.stringify(e.lines)).not.toContain(id.slice(5))
  })

  test('a broken read goes on where it broke, and ends if it keeps breaking', async () => {
    Object.assign(s3Bounds, { stallMs: 200 })
    const bytes = randomBytes(400_000)
    const id = await stored(bytes)
    const blob = await find(e.port, id, 'video')
    failing('GetObject', [
      { kind: 'cut', afterBytes: 100_000 },
      { kind: 'stall', afterBytes: 50_000 },
      { kind: 'cut', afterBytes: 0 },
    ])
    expect(await readAll(blob)).toEqual(bytes)
    const ranges = e.s3.requests.map(({ headers }) => headers['range'])
    expect(ranges).toEqual([undefined, 'bytes=100000-399999', 'bytes=150000-399999', 'bytes=150000-399999'])
    failing('GetObject', [{ kind: 'cut', afterBytes: 100_000 }, ...Array.from({ length: 20 }, () => down)])
    expect(await readAll(blob)).toEqual(bytes.subarray(0, 100_000))
    // Bytes of two objects are never mixed.
    failing('GetObject', [{ kind: 'cut', afterBytes: 100_000 }])
    const reader = await openFile(blob)
    await reader.read(Buffer.alloc(10), 0)
    e.s3.store(keyOf(id), randomBytes(400_000))
    let at = 10
    for (;;) {
      const read = await reader.read(Buffer.alloc(65_536), at)
      at += read
      if (read === 0) break
    }
    expect(at).toBe(100_000)
    expect(new Set(e.s3.refusals)).toEqual(new Set(['PreconditionFailed']))
  }, 20_000)

  test('the server waits for a slow reader, whom its patience does not cut', async () => {
    const bytes = randomBytes(64 * MIB)
    const id = await stored(bytes)
    Object.assign(s3Bounds, { stallMs: 500 })
    const before = e.s3.sentBytes
    const reader = await openFile(await find(e.port, id, 'video'))
    const piece = Buffer.alloc(1_000)
    expect(await reader.read(piece, 0)).toBe(1_000)
    await Bun.sleep(1_200)
    // Socket buffers of loopback take some megabytes.
    expect(e.s3.sentBytes - before).toBeLessThan(16 * MIB)
    expect(await reader.read(piece, 1_000)).toBe(1_000)
    expect(piece).toEqual(bytes.subarray(1_000, 2_000))
    await reader.close()
    expect(e.s3.operations).toEqual(['GetObject'])
  }, 20_000)
})

test('another instance serves what this one stored, and its start removes nothing of this one', async () => {
  const bytes = randomBytes(9 * MIB)
  const id = await stored(bytes)
  const running = await begun(randomBytes(10))
  const other = e.another(join(e.folder, 'other'))
  await other.recover()
  const blob = await find(other, id, 'video')
  expect(Buffer.compare(await readAll(blob), bytes)).toBe(0)
  const part = await blob.open({ from: 8 * MIB, to: 8 * MIB + 9 })
  const piece = Buffer.alloc(10)
  expect(typeof part === 'object' && (await part.read(piece, 8 * MIB))).toBe(10)
  expect(piece).toEqual(bytes.subarray(8 * MIB, 8 * MIB + 10))
  await other.sweep()
  await other.tend()
  await written(e, good(await running.file.finish()).steps)
  expect((await other.find(running.id, 'video')).kind).toBe('blob')
})

describe('Removing and comparing', () => {
  test('expired files are deleted; while that fails their rows stay', async () => {
    const ids = await Promise.all([picture(randomBytes(5)), picture(randomBytes(6))])
    const kept = await picture(randomBytes(7))
    await shifted(image.keptMs + 1_000, async () => {
      always('DeleteObject', down)
      await e.port.sweep()
      expect(e.s3.objects.size).toBe(3)
      e.s3.plan = () => undefined
      await e.port.sweep()
      expect(e.s3.objects.size).toBe(0)
      expect((await e.port.find(ids[0], 'image')).kind).toBe('expired')
      e.s3.requests.length = 0
      await e.port.sweep()
      expect(e.s3.operations).toEqual([])
    })
    expect((await e.port.find(kept, 'image')).kind).toBe('expired')
  }, 20_000)

  test('files without rows and rows without files are reported, and only withdrawn files are deleted', async () => {
    const day = 25 * 3_600_000
    const [gone, withdrawn, fine] = [
      await stored(randomBytes(5)),
      await stored(randomBytes(5)),
      await picture(randomBytes(5)),
    ]
    e.s3.objects.delete(keyOf(gone))
    await written(e, e.port.withdrawSteps(withdrawn))
    always('DeleteObject', down)
    await e.port.deleteFile(withdrawn)
    expect(e.s3.objects.has(keyOf(withdrawn))).toBe(true)
    const [old, young] = ['0'.repeat(64), 'f'.repeat(64)]
    e.s3.store(PREFIX + old, randomBytes(1), { modifiedMs: Date.now() - day })
    e.s3.store(PREFIX + young, randomBytes(1))
    e.s3.store(`${PREFIX}not-ours`, randomBytes(1), { modifiedMs: Date.now() - day })
    e.s3.store('another/place', randomBytes(1), { modifiedMs: Date.now() - day })
    const upload = { contentType: 'x', parts: new Map() }
    e.s3.uploads.set('stale', { ...upload, key: PREFIX + old, initiatedMs: Date.now() - day })
    e.s3.uploads.set('running', { ...upload, key: PREFIX + old, initiatedMs: Date.now() })
    e.s3.uploads.set('theirs', { ...upload, key: 'another/place', initiatedMs: Date.now() - day })
    e.s3.plan = () => undefined
    // A row must be older than the list to be missed in it.
    const found = await shifted(120_000, () => e.port.inspect())
    expect(found).toEqual([
      { kind: 'no_row', count: 1, example: old },
      { kind: 'no_file', count: 1, example: keyOf(gone).slice(PREFIX.length) },
      { kind: 'unfinished', count: 1, example: old },
    ])
    expect([...e.s3.uploads.keys()]).toEqual(['running', 'theirs'])
    expect([...e.s3.objects.keys()].toSorted()).toEqual(
      [keyOf(fine), PREFIX + old, PREFIX + young, `${PREFIX}not-ours`, 'another/place'].toSorted(),
    )
  }, 20_000)

  test('a comparison is bounded, and the next one goes on', async () => {
    Object.assign(s3Bounds, { pagesMax: 1 })
    const names = Array.from({ length: 2_500 }, (_, i) =>
      createHash('sha256').update(String(i)).digest('hex'),
    ).toSorted()
    for (const name of names) e.s3.store(PREFIX + name, Buffer.from('x'), { modifiedMs: 0 })
    const counts: number[] = []
    for (let run = 0; run < 4; run++) counts.push((await e.port.inspect())[0]?.count ?? 0)
    expect(counts).toEqual([1_000, 1_000, 500, 1_000])
  })

  test('a bucket that cannot be listed is logged, and files are stored on', async () => {
    always('ListObjectsV2', { kind: 'error', status: 403, code: 'AccessDenied' })
    expect(await e.port.inspect()).toEqual([])
    expect(e.lines.map(({ event, fields }) => [event, fields['step']])).toEqual([['blobs.storage_failing', 'list']])
    expect(e.port.isShortOfRoom).toBe(false)
  })
})

describe('The check for the operator', () => {
  const words: readonly [string, Parameters<typeof openS3Port>[0], ((port: S3Port) => void) | undefined, string][] = [
    ['a wrong secret', { secretAccessKey: 'wrong' }, undefined, 'check TOLLGATE_S3_SECRET_ACCESS_KEY'],
    ['an unknown key', { accessKeyId: 'AKIDOTHER' }, undefined, 'does not know TOLLGATE_S3_ACCESS_KEY_ID'],
    ['a wrong region', { region: 'us-west-9' }, undefined, 'check TOLLGATE_S3_REGION'],
    ['an unknown bucket', { bucket: 'other' }, undefined, 'check TOLLGATE_S3_BUCKET'],
    ['a wrong clock', {}, ({ s3 }) => (s3.skewMs = 20 * 60_000), "this machine's clock differs"],
    ['no server', { endpoint: 'http://127.0.0.1:9' }, undefined, 'the server cannot be reached (ECONNREFUSED)'],
  ]
  for (const [name, settings, prepare, expected] of words) {
    test(`says what is wrong: ${name}`, async () => {
      const other = await openS3Port(settings)
      prepare?.(other)
      const problem = await other.port.examine()
      expect(problem).toStartWith('cannot store a file: ')
      expect(problem).toContain(expected)
      expect(JSON.stringify([problem, other.lines])).not.toContain(other.s3.identity.secretAccessKey)
      await other.close()
    })
  }

  test('stores, reads a range of, and removes a small file', async () => {
    expect(await e.port.examine()).toBeUndefined()
    expect(e.s3.operations).toEqual(['PutObject', 'GetObject', 'DeleteObject', 'ListObjectsV2'])
    expect(e.s3.objects.size).toBe(0)
    const steps: readonly [S3Operation, string][] = [
      ['GetObject', 'cannot read a part of a file: '],
      ['DeleteObject', 'cannot remove a file: '],
      ['ListObjectsV2', 'cannot list files: '],
    ]
    for (const [operation, problem] of steps) {
      always(operation, { kind: 'error', status: 403, code: 'AccessDenied' })
      expect(await e.port.examine()).toStartWith(problem)
    }
    always('GetObject', { kind: 'whole' })
    expect(await e.port.examine()).toContain('answered 200 to a request for a range')
  })

  test('the bucket is named in the path, or in the host', () => {
    const settings = { ...e.s3.identity, bucket: 'files', prefix: '', endpoint: 'https://s3.example.com:444' } as const
    expect(bucketAddress({ ...settings, style: 'path' })).toEqual({
      origin: 'https://s3.example.com:444',
      host: 's3.example.com:444',
      root: '/files/',
    })
    expect(bucketAddress({ ...settings, style: 'host' })).toEqual({
      origin: 'https://files.s3.example.com:444',
      host: 'files.s3.example.com:444',
      root: '/',
    })
  })
})
