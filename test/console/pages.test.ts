/**
 * Every page and dialog of the console is accessible, without errors, loads from this server only, and sends few
 * requests.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { preloadChecks, violationsOf } from '../support/axe.ts'
import type { BrowserPage } from '../support/browser.ts'
import { expectQuiet, openStage, type ConsoleStage } from '../support/console-browser.ts'
import { accountPlaces, addressOf, operatorPlaces, type Place } from '../support/console-places.ts'
import { countOf, seedOfRun } from '../support/soaks.ts'

let stage: ConsoleStage
const pages = new Map<string, BrowserPage>()
let values: Readonly<Record<string, string>>

async function keyId(): Promise<string> {
  const keys = await stage.gateway.operate<{ id: string }[]>('key.list', { account: stage.gateway.accountId })
  return keys[0]?.id ?? ''
}

beforeAll(async () => {
  stage = await openStage()
  const { gateway } = stage
  const answer = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'hi' }] }),
  })
  await answer.arrayBuffer()
  await gateway.operate('code.create', { count: 1, amount: '1.00' })
  values = { account: gateway.accountId, request: answer.headers.get('x-request-id') ?? '', key: await keyId() }
  for (const colorScheme of ['light', 'dark']) {
    const viewport = { width: colorScheme === 'light' ? 1280 : 380, height: 800 }
    const page = await stage.enter(
      { name: colorScheme, role: 'operator' },
      { viewport, colorScheme, reducedMotion: 'reduce' },
    )
    await preloadChecks(page)
    pages.set(colorScheme, page)
  }
}, 90_000)
afterAll(() => stage.close(), 30_000)

const counted = `performance.getEntriesByType('resource').map(({ name }) => name)`

/** The short form has every page in one of the two schemes, which a seed chooses. The long form has it in both. */
const IS_LONG = countOf('page-schemes') > 1
const FIRST = seedOfRun()
const placesIn = (scheme: string): readonly Place[] =>
  [...accountPlaces, ...operatorPlaces].filter((_, at) => IS_LONG || (FIRST + at) % 2 === (scheme === 'light' ? 0 : 1))

describe.each(['light', 'dark'])('%s', (scheme) => {
  test.each(placesIn(scheme).map((place) => [place.name, place] as const))(
    '%s',
    async (_, place) => {
      const page = pages.get(scheme)
      if (!page) throw new Error('nobody is signed in')
      await page.goto(stage.url + addressOf(place, values))
      await page.appears(place.shows)
      expect(await violationsOf(page)).toEqual([])
      const origin = new URL(stage.url).origin
      const asked = await page.evaluate<readonly string[]>(counted)
      expect(asked.filter((url) => !url.startsWith(origin) && !/^(?:data|blob):/.test(url))).toEqual([])
      expect(asked.filter((url) => url.includes('/admin/v1/')).length).toBeLessThanOrEqual(limitOf(place.name))
      const isWide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      expect(isWide).toBeLessThanOrEqual(0)
      await expectQuiet(page)
    },
    60_000,
  )
})

/** A page is three at most: who one is, whose page it is, and what it shows. A dialog over it may ask what it needs. */
const limitOf = (name: string): number =>
  // The dialog of a model has its accounts with other prices beside its offers.
  name === 'operator-model'
    ? 6
    : /^(?:key-|request|model$|operator-.*-new|operator-provider$|operator-account$)/.test(name)
      ? 5
      : 3

test('the door', async () => {
  const page = stage.browser.open({ viewport: { width: 360, height: 700 } })
  await page.goto(`${stage.url}/sign-in`)
  await page.appears('h1')
  expect(await violationsOf(page)).toEqual([])
  await page.goto(await stage.invite({ name: 'guest', role: 'member' }))
  await page.appears('text=Hello, guest')
  expect(await violationsOf(page)).toEqual([])
  // A link that is used, or was never given.
  await page.goto(`${stage.url}/setup#nothing`)
  await page.call('reload')
  await page.appears('text=This link does not work')
  expect(await violationsOf(page)).toEqual([])
  await page.close()
}, 30_000)

test('the command bar finds pages, by keyboard alone', async () => {
  const page = pages.get('light')
  await page?.goto(`${stage.url}/a/${values['account']}/overview`)
  await page?.appears('figure')
  await page?.call('keyboard.press', 'Control+k')
  await page?.appears('role=combobox')
  if (page) expect(await violationsOf(page)).toEqual([])
  await page?.call('keyboard.type', 'audit')
  await page?.call('keyboard.press', 'Enter')
  await page?.appears('role=heading[name="Audit log"]')
}, 30_000)

test('a menu is as usable as a page', async () => {
  const page = pages.get('dark')
  if (!page) throw new Error('nobody is signed in')
  await page.goto(`${stage.url}/a/${values['account']}/keys`)
  await page.click('role=button[name=/^Change or revoke/]')
  await page.appears('role=menuitem[name="Revoke"]')
  expect(await violationsOf(page)).toEqual([])
  await page.call('keyboard.press', 'Escape')
  await page.click('role=button[name=/^dark/]')
  await page.appears('role=menuitem[name="Sign out"]')
  expect(await violationsOf(page)).toEqual([])
  await expectQuiet(page)
}, 30_000)

test('the costs of a time are in one precision and add up exactly, and are in one line on a phone', async () => {
  const page = pages.get('dark')
  if (!page) throw new Error('nobody is signed in')
  const { gateway } = stage
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'sandbox-image', prompt: 'a house' })
  expect((await fetch(`${gateway.baseUrl}/images/generations`, { method: 'POST', headers, body })).status).toBe(200)
  await page.call('setViewportSize', { width: 360, height: 700 })
  await page.goto(`${stage.url}/a/${values['account']}/usage`)
  await page.call('reload')
  await page.appears('role=link[name="sandbox-image"]')
  const cells = `[...document.querySelectorAll('main > div section:last-child table tr td:last-child span')]`
  const shown = await page.evaluate<readonly string[]>(`${cells}.map((cell) => cell.textContent)`)
  const exact = await page.evaluate<readonly string[]>(`${cells}.map((cell) => cell.title)`)
  const whole = exact.map((text) => BigInt(text.replace('$', '').replace(/\.(\d+)$/, (_, end) => end.padEnd(9, '0'))))
  expect(new Set(shown.map((text) => text.split('.')[1]?.length)).size).toBe(1)
  expect(whole.length).toBe(3)
  expect(whole.slice(0, -1).reduce((sum, amount) => sum + amount, 0n)).toBe(whole.at(-1) ?? 0n)
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
}, 30_000)
