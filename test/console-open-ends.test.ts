/** Models for whoever comes by, a warning that little is left, the server's facts in Chinese, and jumps by id. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { violationsOf } from './support/axe.ts'
import { expectQuiet, openStage, type ConsoleStage } from './support/console-browser.ts'

let stage: ConsoleStage
let requestId = ''
beforeAll(async () => {
  stage = await openStage({ env: { TOLLGATE_PUBLIC_MODELS: 'on' } })
  const answer = await fetch(`${stage.gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'hi' }] }),
  })
  await answer.arrayBuffer()
  requestId = answer.headers.get('x-request-id') ?? ''
}, 90_000)
afterAll(() => stage.close(), 30_000)

const asked = `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('/admin/'))`

test('whoever is not signed in finds the models from the door, and opens one', async () => {
  const page = stage.browser.open({ viewport: { width: 360, height: 700 }, colorScheme: 'dark' })
  await page.goto(`${stage.url}/sign-in`)
  await page.click('role=link[name="Models & prices"]')
  await page.appears('role=link[name="sandbox-image"]')
  expect(await page.evaluate<readonly string[]>(asked)).toHaveLength(1)
  expect(await violationsOf(page)).toEqual([])
  await page.click('role=link[name="sandbox-image"]')
  await page.appears('role=dialog >> text=/Price since/')
  expect(await violationsOf(page)).toEqual([])
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('an owner is warned on every page below the balance they chose', async () => {
  const page = await stage.enter({ name: 'wanda', role: 'owner' })
  const { accountId } = stage.gateway
  await page.goto(`${stage.url}/a/${accountId}/settings?tab=limits`)
  await page.fill('role=textbox[name="Warn below, dollars"]', '4000000')
  await page.click('role=button[name="Save"]')
  await page.appears('text=/you wanted to know below \\$4,000,000.00/')
  expect(await violationsOf(page)).toEqual([])
  await page.goto(`${stage.url}/a/${accountId}/overview`)
  await page.appears('figure')
  await page.appears('text=/below your warning at/')
  await page.appears('text=/you wanted to know below/')
  expect(await violationsOf(page)).toEqual([])
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('settings and health are in Chinese for whoever reads it', async () => {
  const page = await stage.enter({ name: 'zhao', role: 'operator' })
  await page.evaluate(`localStorage.setItem('tollgate', '{"language":"zh-CN"}')`)
  await page.goto(`${stage.url}/operator/settings?tab=server`)
  await page.appears('text=请求体上限')
  expect(await page.text('main')).not.toMatch(/bodyBytesMax|log level|fixed_limits/)
  await page.goto(`${stage.url}/operator/health`)
  await page.appears('text=运行时长')
  expect(await page.text('main')).not.toMatch(/uptime|rss_bytes/)
  await expectQuiet(page)
  await page.close()
}, 60_000)
