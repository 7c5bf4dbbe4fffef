import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openConsole, type TestConsole } from '../../test/support/console.ts'

let context: TestConsole

beforeAll(async () => {
  context = await openConsole()
})
afterAll(() => context.close())

test('of several accounts with one name created at once, one is created and the others conflict', async () => {
  const operator = await context.as('operator')
  const account = { name: 'twins', balance_nano_usd: '5' }
  const told = await Promise.all(Array.from({ length: 8 }, () => context.call(operator, 'POST /accounts', account)))
  const count = (wanted: number): number => told.filter(({ status }) => status === wanted).length
  expect([count(200), count(409)]).toEqual([1, 7])
  const { body } = await context.call<{ data: { name: string }[] }>(operator, 'GET /accounts')
  expect(body.data.filter(({ name }) => name === 'twins')).toHaveLength(1)
})
