import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { presets } from '../src/vendors/presets.ts'
import { FILE, makePriceList, writePriceList } from './price-list.ts'

const DATE = /^\d{4}-\d\d-\d\d$/

test('the list in the repository is the one that the installed package makes', () => {
  expect(readFileSync(join(resolve(import.meta.dir, '..'), FILE), 'utf8')).toBe(writePriceList(makePriceList()))
})

test('every vendor with a key is in the list, or the reason that it is not', () => {
  const { vendors, unlisted } = makePriceList()
  const known = new Set([...Object.keys(vendors), ...Object.keys(unlisted)])
  expect(presets.filter(({ id, keyVariable }) => keyVariable && !known.has(id))).toEqual([])
  expect([...known].filter((id) => !presets.some((preset) => preset.id === id))).toEqual([])
})

test('every source of contexts and output limits is pinned and dated', () => {
  const { modelsDev, litellm } = makePriceList().tokens
  expect(modelsDev).toMatchObject({
    commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    date: expect.stringMatching(DATE),
  })
  expect(litellm).toMatchObject({ version: expect.stringMatching(/^[\d.]+$/), taken: expect.stringMatching(DATE) })
})

test('every model has an input price, and every model but an embedding an output price', () => {
  for (const { models } of Object.values(makePriceList().vendors)) {
    for (const { kind, prices } of Object.values(models)) {
      for (const { input, output } of prices) {
        expect(Number(input)).toBeGreaterThan(0)
        if (kind !== 'embedding') expect(Number(output)).toBeGreaterThan(0)
      }
    }
  }
})
