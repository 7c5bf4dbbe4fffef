/** The playground keeps typed text when the balance is too low and when the gateway restarts. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { freePort } from '../../bench/contender.ts'
import { startBrowser, type Browser, type BrowserPage } from '../support/browser.ts'
import { freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'
import { PASSWORD } from '../support/console-browser.ts'

const folder = freshFolder()
let env: Readonly<Record<string, string>>
let gateway: TestGateway
let browser: Browser
let page: BrowserPage
let address: string

beforeAll(async () => {
  env = { PORT: String(await freePort()), TOLLGATE_VIDEO_POLL_MS: '100' }
  gateway = await startGateway({ folder, env, balanceUsd: '0.30' })
  const { accountId: account, baseUrl } = gateway
  const invited = await gateway.operate<{ setup_path: string }>('user.create', { name: 'vic', role: 'owner', account })
  const { origin } = new URL(baseUrl)
  address = `${origin}/console/a/${account}/playground`
  browser = await startBrowser()
  page = browser.open({ viewport: { width: 1280, height: 800 } })
  await page.goto(origin + invited.setup_path)
  await page.fill('role=textbox[name="New password"]', PASSWORD)
  await page.fill('role=textbox[name="Confirm password"]', PASSWORD)
  await page.click('role=button[name="Save and sign in"]')
  await page.appears('#main h1')
}, 90_000)
afterAll(async () => {
  await browser.close()
  await gateway.close()
}, 30_000)

const PROMPT = 'role=textbox[name="Prompt"]'

test('a video that the balance does not cover is refused in place, and its prompt stays', async () => {
  await page.goto(`${address}?kind=video`)
  await page.call('selectOption', 'role=combobox[name="Resolution"]', '1080p')
  await page.call('selectOption', 'role=combobox[name="Seconds"]', '15')
  await page.fill(PROMPT, 'much too dear')
  await page.click('role=button[name="Generate"]')
  await page.appears('role=alert >> text=/available/')
  expect(await page.call<string>('inputValue', PROMPT)).toBe('much too dear')
  await page.call('selectOption', 'role=combobox[name="Resolution"]', '480p')
  await page.call('selectOption', 'role=combobox[name="Seconds"]', '4')
  await page.fill(PROMPT, 'a gate [sandbox: task-ms=0]')
  await page.click('role=button[name="Generate"]')
  await page.appears('role=article >> css=video')
}, 60_000)

test('after a restart of the gateway a chat goes on with another token', async () => {
  await page.goto(address)
  const say = async (words: string): Promise<void> => {
    await page.fill('role=textbox[name="Message"]', words)
    await page.press('role=textbox[name="Message"]', 'Enter')
  }
  await say('before')
  await page.appears('text=/first token/')
  await gateway.crash()
  gateway = await startGateway({ folder, env, as: gateway })
  await say('afterwards')
  await page.appears('text=/first token/ >> nth=1')
  expect(await page.evaluate<number>(`document.querySelectorAll('[role=alert]').length`)).toBe(0)
}, 60_000)
