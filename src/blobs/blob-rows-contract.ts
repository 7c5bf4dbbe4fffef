/** The contract of `BlobRows` as tests for any store, as far as `describeBlobsContract` does not reach it. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { written, type PortUnderTest } from '../store/port-contract.ts'
import type { BlobRow, BlobRows } from './blob-rows.ts'

const digest = (char: string): string => char.repeat(64)
const row = (char: string, more: Partial<BlobRow> = {}): BlobRow => ({
  digest: digest(char),
  accountId: 'a',
  purpose: 'image',
  contentType: 'image/png',
  bytes: 5,
  createdAtMs: 1_000,
  expiresAtMs: 9_000,
  ...more,
})

/** Runs the suite. `open` gives an empty store. */
export function describeBlobRowsContract(name: string, open: () => Promise<PortUnderTest<BlobRows>>): void {
  describe(`${name} keeps the contract of rows of hosted files`, () => {
    let under: PortUnderTest<BlobRows>
    beforeEach(async () => {
      under = await open()
    })
    afterEach(() => under.close())

    test('a digest has one row, and a withdrawn one stays withdrawn', async () => {
      const { port } = under
      await port.insert(row('a'))
      expect((await under.write([port.insertStep(row('a'))])).kind).toBe('refused')
      await written(under, [port.withdrawStep(digest('a'))])
      await written(under, [port.withdrawStep(digest('a')), port.withdrawStep(digest('b'))])
      expect((await under.write([port.insertStep(row('a'))])).kind).toBe('refused')
      expect(await port.find(digest('a'), 'image')).toMatchObject({ isWithdrawn: true, bytes: 5 })
      expect(await port.find(digest('a'), 'video')).toBeUndefined()
    })

    test('digests are known as kept or withdrawn, and only kept ones have an expiry', async () => {
      const { port } = under
      for (const char of ['a', 'b', 'c']) await port.insert(row(char))
      await port.withdraw([digest('b')])
      const all = ['a', 'b', 'c', 'd'].map(digest)
      expect(await port.statesOf(all)).toEqual(
        new Map([
          [digest('a'), 'kept'],
          [digest('b'), 'withdrawn'],
          [digest('c'), 'kept'],
        ] as const),
      )
      expect([...(await port.expiries(all)).keys()].toSorted()).toEqual([digest('a'), digest('c')])
      expect(await port.keptDigests()).toEqual(new Set([digest('a'), digest('c')]))
    })

    test('rows that must have a file come in the order of their bytes, within bounds of digest and time', async () => {
      const { port } = under
      for (const char of ['9', 'a', 'f', '0']) await port.insert(row(char))
      await port.insert(row('b', { createdAtMs: 5_000 }))
      await port.insert(row('c', { expiresAtMs: 4_000 }))
      await port.insert(row('d'))
      await port.withdraw([digest('d')])
      const between = (above: string, upTo: string | undefined, rowsMax = 10) =>
        port.keptBetween({ above, upTo }, 5_000, rowsMax)
      expect(await between('', undefined)).toEqual(['0', '9', 'a', 'f'].map(digest))
      expect(await between(digest('0'), digest('a'))).toEqual(['9', 'a'].map(digest))
      expect(await between('', undefined, 2)).toEqual(['0', '9'].map(digest))
    })

    test('expired rows are found, and forgotten a while after their withdrawal', async () => {
      const { port } = under
      await port.insert(row('a'))
      await port.insert(row('b', { expiresAtMs: 20_000 }))
      expect(await port.expiredBy(9_000)).toEqual({ digests: [digest('a')], hasMore: false })
      await port.withdraw([digest('a')])
      expect((await port.expiredBy(9_000)).digests).toEqual([])
      await port.forget(Date.now() - 60_000)
      expect(await port.find(digest('a'), 'image')).toBeDefined()
      await port.forget(Date.now() + 60_000)
      expect(await port.find(digest('a'), 'image')).toBeUndefined()
      expect(await port.find(digest('b'), 'image')).toBeDefined()
    })
  })
}
