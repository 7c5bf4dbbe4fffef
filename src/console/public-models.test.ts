import { afterAll, beforeAll, expect, test } from 'bun:test'
import { freshFolder } from '../../test/support/gateway.ts'
import { nobody, openConsole, type TestConsole } from '../../test/support/console.ts'
import type { PageShape } from './shapes.ts'

let shown: TestConsole
let hidden: TestConsole
beforeAll(async () => {
  shown = await openConsole(freshFolder(), { env: { TOLLGATE_PUBLIC_MODELS: 'on' } })
  hidden = await openConsole()
})
afterAll(() => Promise.all([shown.close(), hidden.close()]))

test('everyone sees models and prices in pages if the operator allows it', async () => {
  const first = await shown.call<PageShape<{ id: string }>>(nobody, 'GET /public-models?limit=2')
  expect([first.status, first.body.data.length]).toEqual([200, 2])
  const rest = await shown.call<PageShape<{ id: string }>>(
    nobody,
    `GET /public-models?cursor=${first.body.next_cursor}`,
  )
  const ids = [...first.body.data, ...rest.body.data].map(({ id }) => id)
  expect(ids.toSorted()).toEqual(
    shown.gateway.services.catalog
      .models()
      .map(({ id }) => id)
      .toSorted(),
  )
})

test('the list shows no vendor, no offer and no cost', async () => {
  const { catalog } = shown.gateway.services
  await catalog.putProvider({
    id: 'acme-cloud',
    preset: 'custom',
    baseUrl: 'https://acme.example/v1',
    reach: 'public',
    secret: undefined,
  })
  const { status } = await shown.call(await shown.as('operator'), 'POST /models', {
    id: 'plain',
    price: { input: '5', output: '7' },
    offers: [{ provider: 'acme-cloud', model: 'their-name', cost: { input: '3', output: '3' } }],
  })
  expect(status).toBe(200)
  const { body } = await shown.call<PageShape<object>>(nobody, 'GET /public-models')
  expect(body.data).toContainEqual(expect.objectContaining({ id: 'plain', kind: 'text' }))
  for (const word of ['acme-cloud', 'their-name', 'offers', 'owned_by', 'cost', 'margin', 'upscaler'])
    expect({ word, found: JSON.stringify(body).includes(word) }).toEqual({ word, found: false })
})

test('a model is found by its whole name at any place in the list', async () => {
  const { body, status } = await shown.call(nobody, 'GET /public-models/plain')
  expect([status, body]).toMatchObject([200, { id: 'plain', kind: 'text' }])
  expect(JSON.stringify(body)).not.toContain('acme-cloud')
  // A part of a name finds nothing. Once there is a vendor, only the first account has the sandbox.
  for (const id of ['plai', 'sandbox-chat']) {
    expect((await shown.call(nobody, `GET /public-models/${id}`)).status).toBe(404)
  }
  expect((await hidden.call(nobody, 'GET /public-models/plain')).status).toBe(401)
})

test('by default nobody sees them', async () => {
  expect((await hidden.call(nobody, 'GET /public-models')).status).toBe(401)
})
