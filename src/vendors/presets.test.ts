import { expect, test } from 'bun:test'
import { isOwnAddress, presets } from './presets.ts'
import { vendorRules } from './rules.ts'

test('only presets of this machine have an address that needs no allowance', () => {
  const local = presets.filter(({ id, baseUrl }) => baseUrl !== undefined && isOwnAddress(id, baseUrl))
  expect(local.map(({ id }) => id)).toEqual(['ollama', 'vllm', 'llamacpp'])
})

test('it is that origin alone', () => {
  expect(isOwnAddress('ollama', 'http://127.0.0.1:11434/api')).toBe(true)
  const others = ['http://127.0.0.1:8000/v1', 'http://localhost:11434/v1', 'https://127.0.0.1:11434/v1', 'nonsense', '']
  for (const url of others) expect([url, isOwnAddress('ollama', url)]).toEqual([url, false])
  expect(isOwnAddress('custom', '')).toBe(false)
  expect(isOwnAddress('custom', 'nonsense')).toBe(false)
})

test('the vendors that a rule names have a preset', () => {
  const named = new Set(vendorRules.flatMap(({ vendors = [], notVendors = [] }) => [...vendors, ...notVendors]))
  const ids = presets.map(({ id }) => id)
  expect(named.size).toBeGreaterThan(5)
  expect([...named].filter((name) => !ids.includes(name))).toEqual([])
})
