/** Five tasks by keyboard alone, without a pointer. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { BrowserPage } from '../support/browser.ts'
import { openStage, type ConsoleStage } from '../support/console-browser.ts'

let stage: ConsoleStage

beforeAll(async () => {
  stage = await openStage()
}, 90_000)
afterAll(() => stage.close(), 30_000)

const TABS_MAX = 60
const focused = `(() => {
  const element = document.activeElement
  const label = element.labels?.[0]?.textContent ?? ''
  return (element.getAttribute('aria-label') ?? (label || element.textContent || element.name || '')).trim()
})()`
/** How far something in the dialog has been scrolled, in pixels. */
const scrolled = `Math.max(...[...document.querySelectorAll('[role=dialog] *')].map(({ scrollTop }) => scrollTop))`
const press = (page: BrowserPage, ...keys: string[]): Promise<void> =>
  keys.reduce(async (before, key) => {
    await before
    await page.call('keyboard.press', key)
  }, Promise.resolve())
const type = (page: BrowserPage, text: string): Promise<void> => page.call('keyboard.type', text)

/** Tabs on until something of this name has the focus. */
async function tabTo(page: BrowserPage, name: RegExp): Promise<void> {
  for (let i = 0; i < TABS_MAX; i++) {
    await press(page, 'Tab')
    if (name.test(await page.evaluate<string>(focused))) return
  }
  throw new Error(`no Tab leads to ${name}`)
}

test('sign in by a link, go to keys, make one, revoke it', async () => {
  const page = stage.browser.open({ viewport: { width: 1280, height: 800 } })
  await page.goto(await stage.invite({ name: 'kim', role: 'owner' }))
  await page.appears('text=Hello, kim')
  await tabTo(page, /^New password/)
  await type(page, 'correct horse battery')
  await tabTo(page, /^Confirm password/)
  await type(page, 'correct horse battery')
  await press(page, 'Enter')
  await page.appears('figure')
  await press(page, 'Control+k')
  await page.appears('role=combobox')
  await type(page, 'keys')
  await press(page, 'Enter')
  await page.appears('role=heading[name="Keys"]')
  await tabTo(page, /^Create key$/)
  await press(page, 'Enter')
  await page.appears('role=dialog')
  await type(page, 'typed')
  await press(page, 'Enter')
  await page.appears('role=dialog >> code')
  await tabTo(page, /^Show the key$/)
  await press(page, 'Space')
  await press(page, 'Escape')
  await page.call('waitForSelector', 'role=dialog', { state: 'detached' })
  await tabTo(page, /^Change or revoke typed$/)
  await press(page, 'Enter')
  await page.appears('role=menu')
  await press(page, 'ArrowDown')
  await press(page, 'Enter')
  await page.appears('role=dialog')
  await type(page, 'typed')
  await press(page, 'Enter')
  await page.appears('tbody >> text=Revoked')
  await page.close()
}, 60_000)

test('whatever a dialog was opened by has the focus again when it is closed', async () => {
  const page = await stage.enter({ name: 'sam', role: 'owner' })
  const closed = (): Promise<unknown> => page.call('waitForSelector', 'role=dialog', { state: 'detached' })
  await page.goto(`${stage.url}/a/${stage.gateway.accountId}/keys`)
  await page.appears('role=table')
  await tabTo(page, /^Create key$/)
  await press(page, 'Enter')
  await page.appears('role=dialog')
  await press(page, 'Escape')
  await closed()
  expect(await page.evaluate<string>(focused)).toBe('Create key')
  await press(page, 'Enter')
  await page.appears('role=dialog')
  await type(page, 'again')
  await press(page, 'Enter')
  await page.appears('role=dialog >> code')
  await press(page, 'Escape', 'Escape')
  await closed()
  expect(await page.evaluate<string>(focused)).toBe('Create key')
  await tabTo(page, /^Change or revoke again$/)
  await press(page, 'Enter')
  await page.appears('role=menu')
  await press(page, 'ArrowDown', 'Enter')
  await page.appears('role=dialog')
  await press(page, 'Escape')
  await closed()
  expect(await page.evaluate<string>(focused)).toBe('Change or revoke again')
  await press(page, 'Control+k')
  await page.appears('role=combobox')
  await press(page, 'Escape')
  await closed()
  expect(await page.evaluate<string>(focused)).toBe('Change or revoke again')
  await page.close()
}, 60_000)

test('filter requests, open one, go on to the next, and back', async () => {
  const { gateway } = stage
  for (let i = 0; i < 2; i++) {
    const body = JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'hi' }] })
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
    await (await fetch(`${gateway.baseUrl}/chat/completions`, { method: 'POST', headers, body })).arrayBuffer()
  }
  const page = await stage.enter({ name: 'lee', role: 'member' })
  await page.goto(`${stage.url}/a/${gateway.accountId}/requests`)
  await page.appears('role=table')
  await tabTo(page, /^Status$/)
  await type(page, 'Completed')
  await press(page, 'Enter')
  await page.appears('role=button[name="Clear filters"]')
  expect(await page.evaluate<string>('location.search')).toBe('?outcome=completed')
  await tabTo(page, /^\d\d:\d\d:\d\d$/)
  await press(page, 'Enter')
  await page.appears('text=Settled')
  const [first, search] = await page.evaluate<[string, string]>('[location.pathname, location.search]')
  expect(search).toBe('?outcome=completed')
  await page.call('setViewportSize', { width: 1280, height: 400 })
  // The dialog scrolls once it has the focus and the new height.
  for (let tries = 0; tries < 20 && (await page.evaluate<number>(scrolled)) === 0; tries++) {
    await press(page, 'End')
    await Bun.sleep(150)
  }
  expect(await page.evaluate<number>(scrolled)).toBeGreaterThan(0)
  await press(page, 'ArrowRight')
  await page.appears('text=Settled')
  await Bun.sleep(300)
  expect(await page.evaluate<string>('location.pathname')).not.toBe(first)
  await press(page, 'Escape')
  await page.call('waitForSelector', 'role=dialog', { state: 'detached' })
  expect(await page.evaluate<string>('location.search')).toBe('?outcome=completed')
  await page.close()
}, 60_000)

test('read a chart, and go from a bar to its requests', async () => {
  const page = await stage.enter({ name: 'ann', role: 'owner' })
  await page.appears('figure')
  await page.evaluate(`document.querySelector('figure [role=group]').focus()`)
  await press(page, 'ArrowLeft')
  expect(await page.text('figure [aria-live]')).toMatch(/Cost/)
  await press(page, 'Enter')
  await page.appears('role=heading[name="Requests"]')
  expect(await page.evaluate<string>('location.search')).toMatch(/^\?from=.*&to=/)
  await page.close()
}, 60_000)

test('chat, and top up by a code', async () => {
  const [made] = await stage.gateway
    .operate<{ codes: { code: string }[] }>('code.create', { count: 1, amount: '3.00' })
    .then(({ codes }) => codes)
  const page = await stage.enter({ name: 'olga', role: 'owner' })
  await page.goto(`${stage.url}/a/${stage.gateway.accountId}/playground`)
  await page.appears('textarea')
  await tabTo(page, /^Message$/)
  await type(page, 'Hello')
  await press(page, 'Enter')
  await page.appears('role=link[name="Details"]')
  await press(page, 'Control+k')
  await page.appears('role=combobox')
  await type(page, 'billing')
  await press(page, 'Enter')
  await page.appears('role=heading[name="Billing"]')
  await tabTo(page, /^Redeem code$/)
  await press(page, 'Enter')
  await page.appears('role=dialog')
  await type(page, made?.code ?? '')
  await press(page, 'Enter')
  await page.appears('text=/\\$3\\.00 added/')
  await page.close()
}, 60_000)
