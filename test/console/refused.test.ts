/** In a browser: refused requests are listed, opened by id and counted, and prices below cost are marked. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectQuiet, openStage, type ConsoleStage } from '../support/console-browser.ts'

let stage: ConsoleStage

beforeAll(async () => {
  stage = await openStage()
}, 90_000)
afterAll(() => stage.close(), 30_000)

async function refusedCall(model: string): Promise<string> {
  const response = await fetch(`${stage.gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect(response.status).toBe(404)
  return response.headers.get('x-request-id') ?? ''
}

test('what was refused is a choice of the list, and its id leads to why', async () => {
  const id = await refusedCall('no-such-model')
  const page = await stage.enter({ name: 'refused', role: 'owner' })
  const account = `${stage.url}/a/${stage.gateway.accountId}`
  await page.goto(`${account}/requests?outcome=refused`)
  await page.appears('text=404 model_not_found')
  await page.appears('text=no-such-model')
  // As somebody does who was told the id.
  await page.goto(`${account}/requests/${id}`)
  await page.appears('text=It cost nothing.')
  await page.appears('text=404 model_not_found')
  await page.goto(`${account}/usage`)
  await page.appears('text=404 model_not_found')
  await expectQuiet(page, [404])
}, 60_000)

test('the filters narrow what was refused, and those that cannot are not there', async () => {
  await refusedCall('never-made')
  await refusedCall('sandbox-none')
  const page = await stage.enter({ name: 'narrow', role: 'operator' })
  const list = `${stage.url}/a/${stage.gateway.accountId}/requests?outcome=refused`
  await page.goto(`${list}&model=never-made&endpoint=chat.completions&range=24h`)
  await page.appears('main tbody >> text=never-made')
  expect(await page.evaluate<number>(`document.querySelectorAll('main tbody tr').length`)).toBe(1)
  const fields = await page.evaluate<string>(`document.querySelector('#main').innerHTML`)
  for (const name of ['Cost from $', 'Time from ms', 'Any provider', 'live-switch']) expect(fields).not.toContain(name)
  await page.goto(`${list}&endpoint=embeddings`)
  await page.appears('text=No requests match these filters')
  await page.goto(`${list}&from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z`)
  await page.appears('text=No requests match these filters')
  // What cannot apply goes with the choice.
  await page.goto(`${stage.url}/a/${stage.gateway.accountId}/requests?min_cost=2&provider=sandbox&model=never-made`)
  await page.call('selectOption', 'role=combobox[name="Status"]', 'refused')
  await page.appears('main tbody >> text=never-made')
  expect(await page.evaluate<string>('location.search')).toBe('?model=never-made&outcome=refused')
  await expectQuiet(page)
}, 60_000)

test('an operator sees what is sold below its cost, and gives long requests a price', async () => {
  const offer = { provider: 'sandbox', model: 'sandbox-chat', cost: { input: '2', output: '8' } }
  await stage.gateway.operate('model.add', { id: 'cheap', price: { input: '1', output: '9' }, offers: [offer] })
  const page = await stage.enter({ name: 'seller', role: 'operator' })
  await page.goto(`${stage.url}/operator/models?open=cheap`)
  await page.appears('text=Sold below cost')
  await page.appears('text=Input: sold at $1.00, cost $2.00')
  await page.call('click', 'role=button[name="Edit"]')
  await page.call('click', 'role=button[name="Add a price for long requests"] >> nth=0')
  await page.call('fill', 'role=textbox[name="More input tokens than"]', '200000')
  await page.call('fill', 'role=textbox[name=/^Input/] >> nth=1', '4')
  await page.call('fill', 'role=textbox[name=/^Output/] >> nth=1', '12')
  await page.call('click', 'role=button[name="Save"]')
  await page.appears('text=Above 200,000 input tokens')
  type ListedModel = { readonly id: string; readonly price: { readonly tiers: readonly object[] } }
  const models = await stage.gateway.operate<ListedModel[]>('model.list')
  expect(models.find(({ id }) => id === 'cheap')?.price.tiers).toMatchObject([
    { above_input_tokens: 200_000, input_usd_per_million: '4.00', output_usd_per_million: '12.00' },
  ])
}, 60_000)
