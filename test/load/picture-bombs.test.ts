/**
 * Images that cost their decoder far more than their bytes, from clients and from vendors, against the real process. It
 * stays fast and small, refuses invalid images, and continues to serve others.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { chat, freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'
import { pictureBombs, type PictureBomb } from './malformed/pictures.ts'
import { countOf, seedOfRun } from '../support/soaks.ts'
import { TICK_MS_MAX, tickMeter, tickReport } from '../support/tick-report.ts'

const MB = 1_000_000
const GROWN_MB_MAX = 200
const BACK_MS = 30_000
const PATIENT_MS_MAX = 250
const LONG_REPLY_BYTES = 4 * MB

let vendor: Bun.Server<undefined>
let gateway: TestGateway
let penniless: string
/** What the vendor answers with. */
let painted: Buffer = Buffer.alloc(0)

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.json({ created: 1, data: [{ b64_json: painted.toString('base64') }] }),
  })
  const folder = freshFolder()
  const { preload, env } = tickMeter(folder)
  gateway = await startGateway({
    folder,
    preload,
    // Small enough that what stays behind would be missed.
    env: { ...env, TOLLGATE_MEMORY_BYTES_MAX: String(1_500 * MB) },
    yaml: `
providers:
  painter: { base_url: 'http://127.0.0.1:${vendor.port}/v1', allow_private: true }
models:
  modern:
    kind: image
    price: { input: 5, output: 0, image_input: 10, image_output: 40 }
    image: { family: gpt-image-2 }
    offers: [{ provider: painter, model: m }]
`,
  })
  await gateway.operate('account.create', { name: 'penniless', balance: '0.0001' })
  penniless = (await gateway.operate<{ secret: string }>('key.create', { account: 'penniless', name: 'k' })).secret
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await vendor.stop(true)
}, 30_000)

/** The resident memory of the gateway's process. */
const rssMb = (): number =>
  existsSync('/proc/self/statm')
    ? (Number(readFileSync(`/proc/${gateway.pid}/statm`, 'latin1').split(' ')[1]) * 4_096) / MB
    : 0

async function edit(file: Buffer): Promise<string | number> {
  const form = new FormData()
  for (const [name, value] of Object.entries({ model: 'modern', prompt: 'a door', quality: 'low' }))
    form.set(name, value)
  form.set('image', new Blob([new Uint8Array(file)]), 'a.png')
  const headers = { authorization: `Bearer ${penniless}` }
  const response = await fetch(`${gateway.baseUrl}/images/edits`, { method: 'POST', headers, body: form })
  const { error } = (await response.json()) as { error?: { code: string } }
  return error?.code ?? response.status
}

async function generate(file: Buffer): Promise<number> {
  painted = file
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'modern', prompt: 'a door', quality: 'low' })
  const response = await fetch(`${gateway.baseUrl}/images/generations`, { method: 'POST', headers, body })
  await response.arrayBuffer()
  return response.status
}

/** Of a client, of a vendor, or of both: in how many of the ways each file comes, and which begins. */
const WAYS = countOf('picture-bombs')
const FIRST = seedOfRun()

type Came = Omit<PictureBomb, 'file'> & { readonly edited?: string | number; readonly generated?: number }

/** A picture of a client's is paid for, or is not: this client cannot. */
function faults({ name, holds, edited, generated }: Came): string[] {
  const isEach = (edit: string, generation: number): boolean =>
    [edit, undefined].includes(edited as string) && [generation, undefined].includes(generated)
  const isTaken = isEach('insufficient_balance', 200)
  const isRefused = isEach('invalid_value', 502)
  const isRight = (isTaken && holds !== 'nothing') || (isRefused && holds !== 'picture')
  return isRight ? [] : [`${name}: ${edited}, ${generated}`]
}

/** What a long reply took comes back, too, while others go on asking. */
async function untilSmall(idleMb: number): Promise<void> {
  const untilMs = performance.now() + BACK_MS
  while (rssMb() > idleMb + GROWN_MB_MAX / 2 && performance.now() < untilMs) await Bun.sleep(50)
  expect(rssMb()).toBeLessThan(idleMb + GROWN_MB_MAX / 2)
}

test('bombs of clients and of vendors', async () => {
  expect((await chat(gateway, { model: 'sandbox-mini', max_tokens: 4 })).status).toBe(200)
  const idleMb = rssMb()
  let [isOver, isLong, mostMb] = [false, false, idleMb]
  const long: (PictureBomb & { readonly edited?: string | number })[] = []
  const tookMs: number[] = []
  const beside = async (): Promise<void> => {
    while (!isOver) {
      const startedMs = performance.now()
      const answer = await chat(gateway, { model: 'sandbox-mini', max_tokens: 4 })
      expect(answer.status).toBe(200)
      await answer.text()
      tookMs.push(performance.now() - startedMs)
      if (!isLong) mostMb = Math.max(mostMb, rssMb())
      await Bun.sleep(10)
    }
  }
  const patient = beside()
  await tickReport(gateway)
  const wrong: string[] = []
  let count = 0
  try {
    for (const { name, file, holds } of pictureBombs()) {
      const [isEdited, isGenerated] = [0, 1].map((way) => (FIRST + count + way) % 2 < WAYS)
      count++
      const edited = isEdited ? { edited: await edit(file) } : {}
      if (isGenerated && file.length > LONG_REPLY_BYTES) long.push({ name, file, holds, ...edited })
      else wrong.push(...faults({ name, holds, ...edited, ...(isGenerated && { generated: await generate(file) }) }))
    }
    // A reply of megabytes is text, bytes and text again for a while, whatever is in it: that is no bomb's doing.
    isLong = true
    for (const one of long) wrong.push(...faults({ ...one, generated: await generate(one.file) }))
    await untilSmall(idleMb)
  } finally {
    isOver = true
    await patient
  }
  const { longestMs } = await tickReport(gateway)
  const sorted = tookMs.toSorted((a, b) => a - b)
  const part = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0
  console.log(
    `${count} bombs: ${mostMb.toFixed(0)} MB at most (${idleMb.toFixed(0)} idle), longest tick ${longestMs.toFixed(0)} ms; ` +
      `beside them ${sorted.length} answers, p50 ${part(0.5).toFixed(0)} ms, p99 ${part(0.99).toFixed(0)} ms`,
  )
  expect(wrong).toEqual([])
  expect(longestMs).toBeLessThan(TICK_MS_MAX)
  expect(part(0.9)).toBeLessThan(PATIENT_MS_MAX)
  expect(mostMb - idleMb).toBeLessThan(GROWN_MB_MAX)
  expect(gateway.output()).not.toContain('memory.short')

  const untilMs = performance.now() + BACK_MS
  const decodersLeft = async (): Promise<string> => /^tollgate_decoders (\d+)/m.exec(await gateway.metrics())?.[1] ?? ''
  while ((await decodersLeft()) !== '0' && performance.now() < untilMs) await Bun.sleep(250)
  expect(await decodersLeft()).toBe('0')
  console.log(`afterwards ${rssMb().toFixed(0)} MB`)
}, 240_000)
