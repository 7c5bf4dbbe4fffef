/** Offers of one priority are chosen by the policy of the model, and a conversation keeps to one of them. */
import { expect, test } from 'bun:test'
import type { TestGateway } from '../support/gateway.ts'
import { startScriptedVendors, type Script } from '../support/scripted-vendors.ts'
import { useGateway } from '../support/use-gateway.ts'

const vendors = startScriptedVendors()
const yamlOf = (options: string): string => vendors.yaml(options).replace('priority: 1', 'priority: 0')
const weighted = useGateway({ yaml: yamlOf('') }, () => vendors.stop())
const fastest = useGateway({ yaml: yamlOf('routing: latency\n    sticky: off') })

type Request = { readonly path?: string; readonly body?: object; readonly headers?: Record<string, string> }

/** The vendor that answers. */
async function vendorOf(to: TestGateway, request: Request, script: Script = {}): Promise<string> {
  const { path = '/chat/completions', body, headers } = request
  const messages = [{ role: 'user', content: JSON.stringify(script) }]
  const response = await fetch(`${to.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${to.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'm', messages, ...body }),
  })
  return /"([ab]) says/.exec(await response.text())?.[1] ?? `status ${response.status}`
}

const repeat = (count: number, ask: (i: number) => Promise<string>): Promise<readonly string[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => ask(i)))

test('requests without a name are shared by weight', async () => {
  expect(new Set(await repeat(40, () => vendorOf(weighted, {})))).toEqual(new Set(['a', 'b']))
})

const named: Record<string, (name: string) => Request> = {
  prompt_cache_key: (name) => ({ body: { prompt_cache_key: name } }),
  'a session header': (name) => ({ headers: { 'session-id': name } }),
  'metadata.user_id': (name) => ({ path: '/messages', body: { max_tokens: 9, metadata: { user_id: name } } }),
}

test.each(Object.entries(named))('a conversation that is named by %s keeps to one vendor', async (_, request) => {
  const homes = await repeat(16, (i) => vendorOf(weighted, request(`name ${i}`)))
  expect(new Set(homes)).toEqual(new Set(['a', 'b']))
  expect(await repeat(16, (i) => vendorOf(weighted, request(`name ${i}`)))).toEqual(homes)
})

test('latency sends requests to the faster vendor', async () => {
  const slow = { a: { waitMs: 300 } }
  await repeat(12, () => vendorOf(fastest, {}, slow))
  const later = await repeat(20, () => vendorOf(fastest, {}, slow))
  expect(later.filter((vendor) => vendor === 'b').length).toBeGreaterThanOrEqual(16)
})

test('the explanation has what was measured', async () => {
  const { policy, steps } = await fastest.operate<{ policy: string; steps: Record<string, unknown>[] }>(
    'model.explain',
    { id: 'm', stream: false, input_tokens: 9 },
  )
  expect(policy).toBe('latency')
  expect(steps[0]).toMatchObject({ provider: 'b', verdict: 'first', failed_percent: 0 })
  expect(steps[1]?.['first_event_ms']).toBeGreaterThanOrEqual(290)
  await fastest.operate('alias.set', { id: 'other', model: 'm' })
  expect(await fastest.operate<object>('model.explain', { id: 'other' })).toMatchObject({ id: 'm', policy })
})
