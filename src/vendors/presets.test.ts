import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isOwnAddress, isSendableKey, presets } from './presets.ts'
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

test('docs/vendors.md has a row for each preset, with its address and key variable', () => {
  const page = readFileSync(join(import.meta.dir, '../../docs/vendors.md'), 'utf8')
  const rows = new Map(
    page.split('\n').flatMap(
      (line) =>
        /^\| `([a-z-]+)` \|/
          .exec(line)
          ?.slice(1, 2)
          .map((id) => [id, line]) ?? [],
    ),
  )
  expect([...rows.keys()].toSorted()).toEqual(presets.map(({ id }) => id).toSorted())
  for (const { id, baseUrl, keyVariable } of presets) {
    for (const fact of [baseUrl, keyVariable]) if (fact !== undefined) expect(rows.get(id)).toContain(`\`${fact}\``)
  }
})

test('only a credential that goes into a header must fit into one', () => {
  const json = '{\n  "role": "container"\n}'
  expect(['vertex', 'azure', 'bedrock'].map((id) => isSendableKey(id, json))).toEqual([true, true, true])
  expect(['openai', 'anthropic', 'custom'].map((id) => isSendableKey(id, json))).toEqual([false, false, false])
  expect(['azure', 'bedrock'].map((id) => isSendableKey(id, 'a\nb'))).toEqual([false, false])
})
