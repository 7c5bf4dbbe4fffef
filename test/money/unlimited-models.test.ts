/**
 * Every text model of the price list, without an output limit, from a vendor that records its requests. No limit is
 * sent, or the record names the reason.
 */
import { expect, test } from 'bun:test'
import { priceList } from '../../src/prices/price-list.ts'
import { findPreset } from '../../src/vendors/presets.ts'
import { chat } from '../support/gateway.ts'
import { useGateway } from '../support/use-gateway.ts'
import { limitIn, startWordVendor, type WordVendor } from '../support/word-vendor.ts'

const presets = Object.entries(priceList().vendors)
  .filter(([, { models }]) => Object.values(models).some(({ kind = 'text' }) => kind === 'text'))
  .map(([preset]) => preset)

let vendor: WordVendor
const gateway = useGateway(
  () => {
    vendor = startWordVendor()
    const providers = presets.map(
      (preset) => `  ${preset}: { preset: ${preset}, base_url: '${vendor.origin}/v1', key: k, allow_private: true }`,
    )
    return { yaml: `sandbox: false\nproviders:\n${providers.join('\n')}\n`, balanceUsd: '1000' }
  },
  () => vendor.stop(),
)

type Model = {
  readonly id: string
  readonly kind: string
  readonly limits: { readonly output_tokens_max: number | null }
}

test.each(presets)('%s', async (preset) => {
  const input = { provider: preset }
  const { fingerprint } = await gateway.operate<{ fingerprint: string }>('price.import', input)
  await gateway.operate('price.import', { ...input, approved: fingerprint })
  const models = (await gateway.operate<Model[]>('model.list')).filter(({ kind }) => kind === 'text')
  const demands = findPreset(preset)?.dialects[0] === 'messages'
  let asked = 0
  for (const { id, limits } of models) {
    for (const stream of [false, true]) {
      const before = vendor.asked.length
      const response = await chat(gateway, { model: id, stream })
      await response.text()
      expect([id, response.status]).toEqual([id, 200])
      const [request] = vendor.asked.slice(before)
      const record = await gateway.operate<Record<string, string | null>>('request.show', {
        request: response.headers.get('x-request-id'),
      })
      const wanted = demands ? [String(limits.output_tokens_max ?? 8_192), 'vendor'] : [undefined, null]
      expect([id, request && limitIn(request), record['output_cap_reason']]).toEqual([
        id,
        demands ? Number(wanted[0]) : undefined,
        wanted[1] ?? null,
      ])
      asked++
    }
    await gateway.operate('model.remove', { id })
  }
  expect(asked).toBeGreaterThan(0)
})
