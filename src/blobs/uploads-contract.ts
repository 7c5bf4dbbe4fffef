/** The contract of `Uploads` as tests for any store. The suite uses only the port. */
import { describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import type { Upload, UploadBatch, Uploads } from './uploads.ts'

/** Opens uploads with room for 1,000 bytes in total and 600 per account. */
export type OpenUploads = (room: { readonly isShort: boolean }) => {
  readonly uploads: Uploads
  /** Opens the uploads as the next process does. */
  readonly reopen: () => Uploads
}

const upload = (batch: UploadBatch, bytes: Uint8Array): ReturnType<Upload['end']> | undefined => {
  const file = batch.create()
  return file.write(bytes) ? file.end() : undefined
}

/** Runs the suite. */
export function describeUploadsContract(name: string, open: OpenUploads): void {
  describe(`${name} keeps the contract of uploads`, () => {
    test('a file is kept as received, for this user alone, until its batch is deleted', async () => {
      const { uploads } = open({ isShort: false })
      const batch = uploads.begin('a')
      const parts = [randomBytes(100), randomBytes(0), randomBytes(250)]
      const file = batch.create()
      expect(parts.map((part) => file.write(part))).toEqual([true, true, true])
      const { path, bytes, sha256 } = file.end()
      const whole = Buffer.concat(parts)
      expect([bytes, sha256]).toEqual([350, createHash('sha256').update(whole).digest('hex')])
      expect(readFileSync(path).equals(whole)).toBe(true)
      expect(statSync(path).mode & 0o777).toBe(0o600)
      const unfinished = batch.create()
      unfinished.write(randomBytes(10))
      const other = upload(uploads.begin('a'), randomBytes(5))
      await batch.delete()
      await batch.delete()
      expect([existsSync(path), existsSync(other?.path ?? '')]).toEqual([false, true])
    })

    test('each account has its share of the total, and deleted files free their room', async () => {
      const { uploads } = open({ isShort: false })
      const [first, second] = [uploads.begin('a'), uploads.begin('b')]
      expect(upload(first, randomBytes(600))?.bytes).toBe(600)
      expect(upload(uploads.begin('a'), randomBytes(1))).toBeUndefined()
      expect(upload(second, randomBytes(400))?.bytes).toBe(400)
      expect(upload(uploads.begin('c'), randomBytes(1))).toBeUndefined()
      await first.delete()
      expect(upload(uploads.begin('a'), randomBytes(500))?.bytes).toBe(500)
    })

    test('a write without room writes nothing', () => {
      const { uploads } = open({ isShort: false })
      const taken = upload(uploads.begin('a'), randomBytes(550))
      expect(taken?.bytes).toBe(550)
      const file = uploads.begin('a').create()
      expect([file.write(randomBytes(40)), file.write(randomBytes(40))]).toEqual([true, false])
      expect(file.end().bytes).toBe(40)
    })

    test('a short disk is reported', () => {
      expect([true, false].map((isShort) => open({ isShort }).uploads.isShort)).toEqual([true, false])
    })

    test('nothing outlives the process', () => {
      const { uploads, reopen } = open({ isShort: false })
      const file = upload(uploads.begin('a'), randomBytes(600))
      expect(existsSync(file?.path ?? '')).toBe(true)
      expect(upload(reopen().begin('a'), randomBytes(600))?.bytes).toBe(600)
      expect(existsSync(file?.path ?? '')).toBe(false)
    })
  })
}
