/** The contract of `Blobs` as tests for any store. The suite uses only the port. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { Dice, shifted, written, type PortUnderTest } from '../store/port-contract.ts'
import {
  REMEMBERED_MS,
  type Blob,
  type BlobDraft,
  type BlobPart,
  type BlobPurpose,
  type BlobReader,
  type Blobs,
  type FinishedBlob,
  type UnfinishedBlob,
} from './blobs.ts'

const KEPT_MS = 3_600_000
const MINUTE_MS = 60_000
const image: BlobDraft = { accountId: 'a', purpose: 'image', contentType: 'image/png', keptMs: KEPT_MS }
const video: BlobDraft = { accountId: 'a', purpose: 'video', contentType: 'video/mp4', keptMs: KEPT_MS }
const taskId = (): string => `task_${randomBytes(16).toString('hex')}`

/** Stores a file in the way that a video is stored. */
async function bringIn(under: PortUnderTest<Blobs>, id: string, bytes: Uint8Array): Promise<void> {
  const file = under.port.begin(id, video)
  await writeFile(file.path, bytes)
  await written(under, (await finish(file, bytes.length)).steps)
}

/** Stores a file that must be stored. */
async function finish(file: UnfinishedBlob, bytes: number): Promise<Extract<FinishedBlob, { kind: 'finished' }>> {
  const finished = await file.finish()
  if (finished.kind === 'failed') throw new Error(finished.message)
  expect(finished.bytes).toBe(bytes)
  return finished
}

/** Stores a small file that must be stored. */
async function put(port: Blobs, bytes: Uint8Array, draft: BlobDraft): Promise<string> {
  const id = await port.put(bytes, draft)
  if (id === undefined) throw new Error('it was not stored')
  return id
}

async function opened({ open }: Pick<Blob, 'open'>, part?: BlobPart): Promise<BlobReader | undefined> {
  const file = await open(part)
  if (typeof file === 'string') throw new Error(file)
  return file
}

async function found(port: Blobs, id: string, purpose: BlobPurpose = 'image'): Promise<Blob> {
  const blob = await port.find(id, purpose)
  if (blob.kind !== 'blob') throw new Error(blob.kind)
  return blob
}

/** Reads a file in pieces. */
async function read(blob: Pick<Blob, 'open'>, pieceBytes: number): Promise<Buffer | undefined> {
  const file = await opened(blob)
  if (!file) return undefined
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const piece = Buffer.alloc(pieceBytes)
    const bytes = await file.read(piece, at)
    if (bytes === 0) break
    parts.push(piece.subarray(0, bytes))
    at += bytes
  }
  await file.close()
  return Buffer.concat(parts)
}

/** Runs the suite. `open` gives an empty store. */
export function describeBlobsContract(name: string, open: () => Promise<PortUnderTest<Blobs>>): void {
  describe(`${name} keeps the contract of hosted files`, () => {
    let under: PortUnderTest<Blobs>
    beforeEach(async () => {
      under = await open()
      await under.port.recover()
    })
    afterEach(() => under.close())
    const context = { get: () => under }
    testFiles(context)
    testUnfinished(context)
    testTime(context)
  })
}

type SuiteContext = { readonly get: () => PortUnderTest<Blobs> }

function testFiles({ get }: SuiteContext): void {
  test('bytes are read back as they were stored, in any pieces, also by the next process', async () => {
    const dice = new Dice(3)
    for (const size of [0, 1, 1_000, 300_000]) {
      const bytes = randomBytes(size)
      const id = await put(get().port, bytes, image)
      const next = await get().reopen()
      await next.recover()
      for (const port of [get().port, next]) {
        const blob = await found(port, id)
        expect(blob).toMatchObject({ contentType: 'image/png', bytes: size })
        expect(await read(blob, 1 + dice.below(size + 10_000))).toEqual(bytes)
      }
    }
  })

  test('a part is read from where it begins', async () => {
    const bytes = randomBytes(10_000)
    const file = await opened(await found(get().port, await put(get().port, bytes, image)))
    const piece = Buffer.alloc(100)
    expect(await file?.read(piece, 9_950)).toBe(50)
    expect(piece.subarray(0, 50)).toEqual(bytes.subarray(9_950))
    expect(await file?.read(piece, 10_000)).toBe(0)
    await file?.close()
  })

  test('a reader that was opened for a part reads that part, and any other', async () => {
    const bytes = randomBytes(10_000)
    const blob = await found(get().port, await put(get().port, bytes, image))
    for (const [from, to] of [
      [0, 9_999],
      [9_000, 9_099],
      [9_999, 9_999],
      [0, -1],
    ] as const) {
      const file = await opened(blob, { from, to })
      const piece = Buffer.alloc(500)
      expect(await file?.read(piece.subarray(0, to - from + 1), from)).toBe(Math.min(500, to - from + 1))
      expect(piece.subarray(0, to - from + 1)).toEqual(bytes.subarray(from, Math.min(to + 1, from + 500)))
      expect(await file?.read(piece, 700)).toBe(500)
      expect(piece).toEqual(bytes.subarray(700, 1_200))
      await file?.close()
    }
  })

  test('an id leads to one file, and cannot be guessed', async () => {
    const { port } = get()
    const ids = await Promise.all(Array.from({ length: 50 }, () => put(port, randomBytes(8), image)))
    expect(new Set(ids).size).toBe(50)
    const etags = await Promise.all(ids.map(async (id) => (await found(port, id)).etag))
    expect(new Set(etags).size).toBe(50)
    const [id = ''] = ids
    for (const wrong of [
      '',
      'img_',
      `${id}x`,
      id.slice(0, -1),
      id.toUpperCase(),
      `../${id}`,
      etags[0] ?? '',
      taskId(),
    ]) {
      expect([wrong, (await port.find(wrong, 'image')).kind]).toEqual([wrong, 'unknown'])
    }
    expect((await port.find(id, 'video')).kind).toBe('unknown')
  })
}

function testUnfinished({ get }: SuiteContext): void {
  test('a file is served once its steps are written', async () => {
    const [id, bytes] = [taskId(), randomBytes(70_000)]
    const file = get().port.begin(id, video)
    await writeFile(file.path, bytes)
    const { steps } = await finish(file, bytes.length)
    expect((await get().port.find(id, 'video')).kind).toBe('unknown')
    await written(get(), steps)
    expect(await read(await found(get().port, id, 'video'), 4_096)).toEqual(bytes)
    expect((await get().port.find(id, 'image')).kind).toBe('unknown')
    expect((await get().write(steps)).kind).toBe('refused')
  })

  test('a discarded file can be begun again', async () => {
    const { port } = get()
    const id = taskId()
    const first = port.begin(id, video)
    await writeFile(first.path, randomBytes(500))
    await first.discard()
    await first.discard()
    await bringIn(get(), id, randomBytes(20))
    expect((await found(port, id, 'video')).bytes).toBe(20)
  })

  test('what a crash left is never served, and does not disturb the next process', async () => {
    const [kept, unwritten, unfinished] = [taskId(), taskId(), taskId()]
    await bringIn(get(), kept, randomBytes(10))
    const file = get().port.begin(unwritten, video)
    await writeFile(file.path, randomBytes(10))
    await finish(file, 10)
    await writeFile(get().port.begin(unfinished, video).path, randomBytes(10))
    const next = await get().reopen()
    await next.recover()
    expect((await found(next, kept, 'video')).bytes).toBe(10)
    for (const id of [unwritten, unfinished]) expect((await next.find(id, 'video')).kind).toBe('unknown')
    // Its task stores it again.
    await bringIn(get(), unwritten, randomBytes(30))
    expect((await found(next, unwritten, 'video')).bytes).toBe(30)
  })
}

function testTime({ get }: SuiteContext): void {
  test('a file is served for its time, and then counts as expired', async () => {
    const { port } = get()
    const [id, longer] = [
      await put(port, randomBytes(10), image),
      await put(port, randomBytes(10), { ...image, keptMs: 1e9 }),
    ]
    const { createdAtMs, expiresAtMs } = await found(port, id)
    expect(expiresAtMs - createdAtMs).toBe(KEPT_MS)
    const laterMs = (await found(port, longer)).expiresAtMs
    const kept = await port.keptUntil([id, longer, 'img_none'])
    expect(kept).toEqual(
      new Map([
        [id, expiresAtMs],
        [longer, laterMs],
      ]),
    )
    await shifted(KEPT_MS - MINUTE_MS, async () => {
      await port.sweep()
      expect((await port.find(id, 'image')).kind).toBe('blob')
    })
    await shifted(KEPT_MS + MINUTE_MS, async () => {
      expect((await port.find(id, 'image')).kind).toBe('expired')
      const blob = await found(port, longer)
      await port.sweep()
      expect((await port.find(id, 'image')).kind).toBe('expired')
      expect([...(await port.keptUntil([id, longer])).keys()]).toEqual([longer])
      expect((await read(blob, 100))?.length).toBe(10)
    })
    await shifted(KEPT_MS + REMEMBERED_MS + 2 * MINUTE_MS, async () => {
      await port.sweep()
      expect((await port.find(id, 'image')).kind).toBe('unknown')
    })
  })

  test('a withdrawn file is gone at once, and an open one is read to its end', async () => {
    const { port } = get()
    const [id, bytes] = [taskId(), randomBytes(200_000)]
    await bringIn(get(), id, bytes)
    const blob = await found(port, id, 'video')
    const reader = await opened(blob)
    await written(get(), port.withdrawSteps(id))
    expect((await port.find(id, 'video')).kind).toBe('expired')
    expect(await port.keptUntil([id])).toEqual(new Map())
    await port.deleteFile(id)
    await port.deleteFile(id)
    expect(await blob.open()).toBeUndefined()
    const piece = Buffer.alloc(bytes.length)
    expect(await reader?.read(piece, 0)).toBe(bytes.length)
    expect(piece).toEqual(bytes)
    await reader?.close()
  })
}
