import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { sealContext } from './catalog.ts'
import { changedOptions, optionsView, type StatedOptions } from './provider-options.ts'

const changed = (stated: StatedOptions, before?: StatedOptions) => {
  const first = before && changedOptions(undefined, before)
  return changedOptions(first?.kind === 'options' ? first.options : undefined, stated)
}
const optionsOf = (...args: Parameters<typeof changed>) => {
  const made = changed(...args)
  return made.kind === 'options' ? made.options : made.fault
}

test.each([
  [{ headers: { Authorization: 'x' } }, 'header_name'],
  [{ headers: { Host: 'x' } }, 'header_name'],
  [{ headers: { 'Content-Length': '1' } }, 'header_name'],
  [{ headers: { 'Transfer-Encoding': 'chunked' } }, 'header_name'],
  [{ headers: { 'Proxy-Authorization': 'x' } }, 'header_name'],
  [{ headers: { 'a b': 'x' } }, 'header_name'],
  [{ headers: { '': 'x' } }, 'header_name'],
  [{ headers: { a: 'x\r\nhost: y' } }, 'header_value'],
  [{ headers: { a: 'x'.repeat(2_049) } }, 'header_value'],
  [{ organization: 'ö' }, 'header_value'],
  [{ headers: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`h${i}`, ''])) }, 'many'],
  [{ query: { 'a=b': 'x' } }, 'query_name'],
  [{ query: { a: 'x'.repeat(2_049) } }, 'query_value'],
  [{ proxy: 'https://proxy.example' }, 'proxy'],
  [{ ca: 'no certificate' }, 'ca'],
  [{ ca: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' }, 'ca'],
] as const)('refuses %j', (stated, fault) => {
  expect(changed(stated)).toMatchObject({ kind: 'bad', fault })
})

test('organization and project are headers', () => {
  const both = { 'openai-organization': 'org-1', 'openai-project': 'p-1' }
  const stated = { organization: 'org-1', project: 'p-1' }
  expect(optionsOf(stated)).toMatchObject({ headers: both })
  expect(optionsOf({ organization: null }, stated)).toMatchObject({ headers: { 'openai-project': 'p-1' } })
  expect(optionsOf({ organization: null, project: null }, stated)).toBeUndefined()
})

test('what is left out stays, and null takes it away', () => {
  const before = { proxy: 'direct', headers: { A: '1' }, query: { b: '2' } }
  expect(optionsOf({ headers: { C: '3' } }, before)).toMatchObject({
    proxy: 'direct',
    headers: { c: '3' },
    query: { b: '2' },
  })
  expect(optionsOf({ proxy: null, headers: null, query: null }, before)).toBeUndefined()
})

test('only the certificates of a file are kept, and nothing secret is shown', () => {
  const pem = readFileSync(new URL('../../test/fixtures/tls/ca.pem', import.meta.url), 'utf8')
  const made = changed({ ca: `comment\n${pem}\n`, headers: { 'X-Secret': 'hush' }, proxy: 'http://me:hush@proxy' })
  if (made.kind === 'bad') throw new Error(made.fault)
  expect(made.options?.ca).toBe(pem.trim())
  const view = optionsView(made.options)
  expect(view).toEqual({ proxy: 'http://proxy:80', headers: ['x-secret'], query: [], has_ca: true })
})

test('a secret is sealed to whoever can read it on its way', () => {
  const proxy = { scheme: 'http', hostname: 'proxy', port: 80 } as const
  const [secure, plain] = ['https://a.example/v1', 'http://a.example/v1']
  expect(sealContext('a', secure, { proxy })).toBe(sealContext('a', secure))
  expect(sealContext('a', plain, { proxy })).not.toBe(sealContext('a', plain))
  expect(sealContext('a', secure, { ca: 'x' })).not.toBe(sealContext('a', secure))
  expect(sealContext('a', secure, { ca: 'x', proxy })).not.toBe(sealContext('a', secure, { ca: 'x' }))
})
