/** Aliases as operators manage them: what is refused, what follows, and what the console shows. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openConsole, type Caller, type TestConsole } from '../../test/support/console.ts'

let context: TestConsole
let operator: Caller
beforeAll(async () => {
  context = await openConsole()
  operator = await context.as('operator')
  const offers = [{ provider: 'sandbox', model: 'theirs' }]
  for (const id of ['fast', 'slow']) {
    await context.call(operator, 'POST /models', { id, price: { input: '1000', output: '2000' }, offers })
  }
})
afterAll(() => context.close())

type Error = { error: { code: string; message: string } }
const put = (alias: string, model: string) =>
  context.call<Error>(operator, `PUT /aliases/${encodeURIComponent(alias)}`, { model })

test('an alias is made, pointed elsewhere and removed, with a line in the audit log for each', async () => {
  expect((await put('gpt-4', 'fast')).body).toMatchObject({
    id: 'gpt-4',
    model: 'fast',
    origin: 'stored',
    in_use: true,
  })
  expect((await put('gpt-4', 'slow')).body).toMatchObject({ model: 'slow' })
  const { body } = await context.call<{ data: object[] }>(operator, 'GET /aliases')
  expect(body.data).toEqual([{ id: 'gpt-4', model: 'slow', origin: 'stored', in_use: true }])
  expect((await context.call(operator, 'GET /models/slow')).body['aliases']).toEqual(['gpt-4'])
  expect((await context.call(operator, 'DELETE /aliases/gpt-4')).body).toEqual({ id: 'gpt-4', removed: true })
  const log = await context.call<{ data: object[] }>(operator, 'GET /audit?subject=gpt-4')
  expect(log.body.data).toMatchObject([
    { action: 'alias.remove', before: { model: 'slow' } },
    { action: 'alias.set', before: { model: 'fast' }, after: { model: 'slow' } },
    { action: 'alias.set', after: { model: 'fast' } },
  ])
})

test('an alias with the id of a model, of an alias or of nothing is refused, and so is a model with its name', async () => {
  await put('first', 'fast')
  const refused = [await put('slow', 'fast'), await put('fast', 'fast'), await put('second', 'first')]
  expect(refused.map(({ status }) => status)).toEqual([409, 409, 409])
  expect(refused.map(({ body }) => body.error.message)).toEqual([
    "There is a model 'slow', so no alias can have this name.",
    "There is a model 'fast', so no alias can have this name.",
    "'first' is an alias itself; name the model.",
  ])
  expect((await put('second', 'nothing')).status).toBe(404)
  expect((await put('a name with spaces', 'fast')).status).toBe(400)
  const price = { input: '1', output: '1' }
  const draft = { id: 'first', price, offers: [{ provider: 'sandbox', model: 'x' }] }
  expect((await context.call<Error>(operator, 'POST /models', draft)).body.error.message).toBe(
    "There is an alias 'first', so no model can have this id; remove the alias first.",
  )
})

test('an allow-list may name an alias. A model of a removed alias is not of the list', async () => {
  await put('listed', 'slow')
  const at = `/accounts/${context.accountId}`
  const change = (models: readonly string[]) => context.call(operator, `PATCH ${at}`, { models })
  expect((await change(['listed'])).status).toBe(200)
  expect((await change(['nobody'])).status).toBe(400)
  const models = async () =>
    (await context.call<{ data: { id: string; aliases: string[] }[] }>(operator, `GET ${at}/models`)).body.data
  expect(await models()).toMatchObject([{ id: 'slow', aliases: ['listed'] }])
  await context.call(operator, 'DELETE /aliases/listed')
  expect(await models()).toEqual([])
})

test('doctor names an alias whose model is gone', async () => {
  await put('orphan', 'fast')
  await context.call(operator, 'DELETE /models/fast')
  const { body } = await context.call<{ data: { id: string; in_use: boolean }[] }>(operator, 'GET /aliases')
  expect(body.data.find(({ id }) => id === 'orphan')).toMatchObject({ in_use: false })
  const { runOperation } = await import('../admin/operations.ts')
  const facts = await runOperation(context.gateway.services, 'doctor', {})
  expect(facts).toMatchObject({ value: { aliases_without_model: expect.arrayContaining(['orphan → fast']) } })
})
