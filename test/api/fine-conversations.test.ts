/** Conversations with very many items. Loading one must not delay other requests. */
import { expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { useGateway } from '../support/use-gateway.ts'
import { TICK_MS_MAX, tickMeter, withLongestTick } from '../support/tick-report.ts'
import { startWordVendor, type WordVendor } from '../support/word-vendor.ts'

let vendor: WordVendor

const gateway = useGateway(
  () => {
    vendor = startWordVendor()
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
    const offers = '[{ provider: v, model: 5-words }]'
    const yaml = `
providers: { v: { base_url: '${vendor.origin}/v1', key: k-12345678, allow_private: true } }
models: { chatty: { price: { input: 0.001, output: 0.001 }, output_tokens_max: 4096, offers: ${offers} } }
`
    return { yaml, folder, ...tickMeter(folder) }
  },
  () => vendor.stop(),
)

async function answered(input: unknown, previous: string | undefined): Promise<{ status: number; text: string }> {
  const response = await fetch(`${gateway.baseUrl}/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'chatty',
      input,
      ...(previous === undefined ? {} : { previous_response_id: previous }),
    }),
  })
  return { status: response.status, text: await response.text() }
}

test('a conversation can be continued until it has too many items to be read at once', async () => {
  const input = Array.from({ length: 20_000 }, () => ({ role: 'user', content: 'hi' }))
  let previous: string | undefined
  let last = { status: 200, text: '' }
  let turns = 0
  for (; turns < 12 && last.status === 200; turns++) {
    const { did, longestMs } = await withLongestTick(gateway, () => answered(input, previous))
    last = did
    expect(longestMs).toBeLessThan(TICK_MS_MAX)
    previous = /"id":"(resp_[a-z0-9]+)"/.exec(did.text)?.[1]
  }
  expect(turns).toBeGreaterThan(2)
  expect([last.status, last.text]).toEqual([400, expect.stringContaining('context_length_exceeded') as string])
  expect((await answered('hi', undefined)).status).toBe(200)
}, 120_000)
