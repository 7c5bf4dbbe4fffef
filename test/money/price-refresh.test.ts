/** Prices from a list of the operator's own, in the real program: fetched, bounded, approved, and never free. */
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { runJson } from '../support/command.ts'
import { signedIn } from '../support/people.ts'
import { useGateway } from '../support/use-gateway.ts'

let body = ''
let moves = false
const host = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) =>
    moves
      ? Response.redirect(`${new URL(url).origin}/elsewhere`)
      : new Response(body, { status: body === '' ? 500 : 200 }),
})
afterAll(() => host.stop(true))
const url = `http://127.0.0.1:${host.port}/list.json`

const gateway = useGateway({ env: { OPENAI_API_KEY: 'sk-of-a-test', TOLLGATE_MARKUP: 'off' } })

const listOf = (prices: Readonly<Record<string, string>>): string => {
  const models = Object.entries(prices).map(([id, input]) => [
    id,
    { context: 1_000, prices: [{ input, output: '10' }] },
  ])
  return JSON.stringify({ vendors: { openai: { models: Object.fromEntries(models) } } })
}
type Plan = {
  readonly changes: readonly { readonly model: string }[]
  readonly held: readonly string[]
  readonly fingerprint: string
  readonly applied: boolean
}
const look = (input: object = {}): Promise<Plan> =>
  gateway.operate('price.import', { provider: 'openai', from: url, allow_private: true, ...input })
const refusal = (input: object): Promise<string> =>
  look(input).then(
    () => 'taken',
    (error: Error) => error.message,
  )
const inputOf = async (id: string): Promise<string | undefined> => {
  type Shown = { readonly id: string; readonly price: { readonly input_usd_per_million: string } }
  const models = await gateway.operate<Shown[]>('model.list')
  return models.find((model) => model.id === id)?.price.input_usd_per_million
}

test('a list is shown, approved and applied; a later one only within the bound', async () => {
  body = listOf({ 'own-a': '1', 'own-b': '2' })
  const first = await look()
  expect(first).toMatchObject({ changes: [{ model: 'own-a' }, { model: 'own-b' }], applied: false })
  expect(await inputOf('own-a')).toBeUndefined()
  expect(await look({ approved: first.fingerprint })).toMatchObject({ applied: true })
  body = listOf({ 'own-a': '1.1', 'own-b': '1', 'own-c': '3' })
  // What was approved is not what the address says now.
  expect(await refusal({ approved: first.fingerprint })).toContain('changed')
  const given = `price import --provider openai --from ${url} --allow-private --within 20% --yes`
  const done = await runJson<Plan>(gateway.folder, given.split(' '))
  expect(done).toMatchObject({ changes: [{ model: 'own-a' }], held: ['own-b', 'own-c'], applied: true })
  expect([await inputOf('own-a'), await inputOf('own-b'), await inputOf('own-c')]).toEqual(['1.10', '2.00', undefined])
})

test('a list that is free, broken, moved, too long or at a private address is refused whole', async () => {
  body = listOf({ 'own-a': '1', 'own-free': '0' })
  expect(await refusal({})).toContain('above zero')
  body = '{'
  expect(await refusal({})).toContain('not JSON')
  body = ''
  expect(await refusal({})).toContain('status 500')
  body = `"${'x'.repeat(1024 * 1024)}"`
  expect(await refusal({})).toContain('1 MiB')
  body = listOf({ 'own-a': '1' })
  expect(await refusal({ allow_private: false })).toContain('private')
  for (const from of [
    'http://example.com/x',
    'file:///etc/passwd',
    'https://u:p@example.com/x',
    'http://169.254.169.254/x',
  ])
    expect(await refusal({ from, allow_private: false })).toContain('address')
  expect(await refusal({ from: 'http://169.254.169.254/x' })).toContain('address')
  moves = true
  expect(await refusal({})).toContain('status 302')
  moves = false
})

test('a command reads a file, and nobody reads one through the console', async () => {
  const file = join(gateway.folder, 'list.json')
  await Bun.write(file, listOf({ 'own-a': '1.1', 'own-d': '4' }))
  expect((await look({ from: file })).changes.map(({ model }) => model)).toContain('own-d')
  expect(await refusal({ from: join(gateway.folder, 'none.json') })).toContain('price list')
  const { cookie } = await signedIn(gateway, { name: 'reader', role: 'operator' })
  const response = await fetch(`${new URL(gateway.baseUrl).origin}/admin/v1/price-imports`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ from: file }),
  })
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('only a command')
})
