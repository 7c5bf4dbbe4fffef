/** The console before there is an operator, and at the address without a path. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openStage, type ConsoleStage } from '../support/console-browser.ts'

let stage: ConsoleStage
beforeAll(async () => {
  stage = await openStage()
}, 60_000)
afterAll(() => stage.close())

test('the bare address leads a browser to the console, and is a 404 for programs', async () => {
  const url = new URL('/', stage.url)
  const asked = (accept: string): Promise<Response> => fetch(url, { headers: { accept }, redirect: 'manual' })
  const page = await asked('text/html,application/xhtml+xml,*/*;q=0.8')
  expect([page.status, page.headers.get('location')]).toEqual([302, 'console/'])
  const program = await asked('*/*')
  expect([program.status, await program.json()]).toMatchObject([404, { error: { code: 'not_found' } }])
})

test('before the first operator the console says where the link is, and shows no form', async () => {
  const page = stage.browser.open({ viewport: { width: 360, height: 700 } })
  await page.goto(stage.url)
  await page.appears('role=heading[name="No operator yet"]')
  expect(await page.evaluate<number>('document.querySelectorAll("input").length')).toBe(0)
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  const other = await stage.enter({ name: 'op', role: 'operator' })
  await other.appears('h1')
  await page.goto(`${stage.url}/sign-in`)
  await page.appears('role=button[name="Sign in"]')
}, 60_000)

test('a method that a path of the admin API does not have is told which ones it has', async () => {
  const answer = await fetch(new URL('/admin/v1/providers', stage.url), { method: 'PUT' })
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST'])
})
