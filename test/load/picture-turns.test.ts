/** Decoding images takes time. An account that sends many waits for it, and other accounts do not. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import sharp from 'sharp'
import { readEditClient } from '../../src/formats/images/edit.ts'
import {
  freshFolder,
  startGateway,
  startSandboxProcess,
  type TestGateway,
  type TestSandbox,
} from '../support/gateway.ts'
import { photo } from '../support/test-pictures.ts'

const CROWD = 50
const LARGE_SIDE = 6_500

let sandbox: TestSandbox
let gateway: TestGateway
let penniless: string

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  gateway = await startGateway({
    yaml: `
providers:
  vendor: { base_url: '${sandbox.baseUrl}', allow_private: true }
models:
  modern:
    kind: image
    price: { input: 5, output: 0, image_input: 10, image_output: 40 }
    image: { family: gpt-image-2 }
    offers: [{ provider: vendor, model: sandbox-image }]
`,
  })
  await gateway.operate('account.create', { name: 'penniless', balance: '0.001' })
  penniless = (await gateway.operate<{ secret: string }>('key.create', { account: 'penniless', name: 'k' })).secret
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
}, 30_000)

/** The status, or the code of what went wrong. */
async function edit(key: string, picture: Buffer): Promise<number | string> {
  const form = new FormData()
  for (const [name, value] of Object.entries({ model: 'modern', prompt: 'a red door', quality: 'low' })) {
    form.set(name, value)
  }
  form.set('image', new Blob([new Uint8Array(picture)]), 'a.png')
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${gateway.baseUrl}/images/edits`, { method: 'POST', headers, body: form })
  const { error } = (await response.json()) as { error?: { code: string } }
  return error?.code ?? response.status
}

async function generation(): Promise<number> {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'modern', prompt: 'a red door', quality: 'low' })
  const response = await fetch(`${gateway.baseUrl}/images/generations`, { method: 'POST', headers, body })
  await response.arrayBuffer()
  return response.status
}

test('accounts take turns where pictures are decoded, and upstreams’ images go first', async () => {
  const small = photo(64, 64)
  expect([await edit(gateway.key, small), await generation()]).toEqual([200, 200])
  const large = await sharp({ create: { width: LARGE_SIDE, height: LARGE_SIDE, channels: 3, background: '#a05' } })
    .png()
    .toBuffer()
  let decoded = 0
  const crowd = Array.from({ length: CROWD }, async () => {
    const answer = await edit(penniless, large)
    decoded++
    return answer
  })
  await Promise.race(crowd)
  const before = async (asked: Promise<number | string>): Promise<[answer: number | string, decoded: number]> => [
    await asked,
    decoded,
  ]
  const [edited, generated] = await Promise.all([before(edit(gateway.key, small)), before(generation())])
  console.log(`of ${CROWD} pictures ${edited[1]} were decoded before the edit, ${generated[1]} before the generation`)
  expect([edited[0], generated[0]]).toEqual([200, 200])
  expect(Math.max(edited[1], generated[1])).toBeLessThan(CROWD / 2)
  expect(new Set(await Promise.all(crowd))).toEqual(new Set(['insufficient_balance']))
}, 60_000)

test('a form whose time is over is refused with 503, and told when to come back', async () => {
  const path = join(freshFolder(), 'a.png')
  const bytes = await Bun.write(path, photo(64, 64))
  const form = {
    fields: { model: 'modern', prompt: 'a red door' },
    files: [{ field: 'image', param: 'image', path, bytes }],
  }
  const late = await readEditClient(form, { share: 'a', untilMs: performance.now() - 1 })
  expect(late).toMatchObject({ kind: 'rejected', failure: { kind: 'unavailable', retryAfterMs: 10_000 } })
  expect(await readEditClient(form, { share: 'a', untilMs: performance.now() + 10_000 })).toMatchObject({
    kind: 'read',
  })
}, 20_000)
