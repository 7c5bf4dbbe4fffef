/** What every implementation of `Uploads` must do, as tests. The suite knows the port only. */
import { describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import type { Upload, UploadBatch, Uploads } from './uploads.ts'

/** Opens uploads with room for 1,000 bytes, and 600 of an account. */
export type OpenUploads = (room: { readonly isShort: boolean }) => {
  readonly uploads: Uploads
  /** The uploads as the next process opens them. */
  readonly reopen: () => Uploads
}

const upload = (batch: UploadBatch, bytes: Uint8Array): ReturnType<Upload['end']> | undefined => {
  const file = batch.create()
  return file.write(bytes) ? file.end() : undefined
}

/** Runs the suite. */
export function describeUploadsContract(name: string, open: OpenUploads): void {
  describe(`${name} keeps the contract of uploads`, () => {
    test('a file is there as it came, for this user alone, until its batch is removed', async () => {
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
      await batch.remove()
      await batch.remove()
      expect([existsSync(path), existsSync(other?.path ?? '')]).toEqual([false, true])
    })

    test('an account has its share, and all have theirs together; what is removed makes room', async () => {
      const { uploads } = open({ isShort: false })
      const [first, second] = [uploads.begin('a'), uploads.begin('b')]
      expect(upload(first, randomBytes(600))?.bytes).toBe(600)
      expect(upload(uploads.begin('a'), randomBytes(1))).toBeUndefined()
      expect(upload(second, randomBytes(400))?.bytes).toBe(400)
      expect(upload(uploads.begin('c'), randomBytes(1))).toBeUndefined()
      await first.remove()
      expect(upload(uploads.begin('a'), randomBytes(500))?.bytes).toBe(500)
    })

    test('a write that has no room writes nothing', () => {
      const { uploads } = open({ isShort: false })
      const taken = upload(uploads.begin('a'), randomBytes(550))
      expect(taken?.bytes).toBe(550)
      const file = uploads.begin('a').create()
      expect([file.write(randomBytes(40)), file.write(randomBytes(40))]).toEqual([true, false])
      expect(file.end().bytes).toBe(40)
    })

    test('the disk is short or it is not', () => {
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
