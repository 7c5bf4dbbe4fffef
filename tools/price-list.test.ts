import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { presets } from '../src/providers/presets.ts'
import { FILE, makePriceList, writePriceList } from './price-list.ts'

test('the list in the repository is the one that the installed package makes', () => {
  expect(readFileSync(join(resolve(import.meta.dir, '..'), FILE), 'utf8')).toBe(writePriceList(makePriceList()))
})

test('every vendor with a key is in it, or why it is not', () => {
  const { vendors, unlisted } = makePriceList()
  const known = new Set([...Object.keys(vendors), ...Object.keys(unlisted)])
  expect(presets.filter(({ id, keyVariable }) => keyVariable && !known.has(id))).toEqual([])
  expect([...known].filter((id) => !presets.some((preset) => preset.id === id))).toEqual([])
})

test('every model has an input price, and what is not an embedding an output price', () => {
  for (const { models } of Object.values(makePriceList().vendors)) {
    for (const { kind, prices } of Object.values(models)) {
      for (const { input, output } of prices) {
        expect(Number(input)).toBeGreaterThan(0)
        if (kind !== 'embedding') expect(Number(output)).toBeGreaterThan(0)
      }
    }
  }
})
