/** The browser that other tests use: its abilities, and its error where it cannot start. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type Browser } from '../support/browser.ts'

let browser: Browser

beforeAll(async () => {
  browser = await startBrowser()
}, 150_000)
afterAll(() => browser.close(), 30_000)

const form = `<!doctype html><title>form</title><label>Name <input id="name"></label>
  <button onclick="said.textContent = 'Hello, ' + document.getElementById('name').value">Greet</button><p id="said"></p>`
const addressOf = (html: string): string => `data:text/html,${encodeURIComponent(html)}`

test('a form is filled by hand, and looks as the screen it is on', async () => {
  const page = browser.open({ viewport: { width: 300, height: 200 }, colorScheme: 'dark' })
  await page.goto(addressOf(form))
  await page.fill('#name', 'Ann')
  await page.press('#name', 'e')
  await page.call('keyboard.press', 'Tab')
  await page.call('keyboard.press', 'Enter')
  await page.appears('text=Hello, Anne')
  expect(await page.text('#said')).toBe('Hello, Anne')
  await page.click('role=button[name="Greet"]')
  expect(await page.evaluate(`[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]`)).toEqual([300, true])
  const picture = await page.screenshot()
  expect([picture.toString('latin1', 1, 4), picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([
    'PNG',
    300,
    200,
  ])
  await page.close()
})

test('pages share nothing, and what goes wrong in one is known', async () => {
  const [one, other] = [browser.open(), browser.open()]
  await Promise.all([one.goto('about:blank'), other.goto(addressOf('<script>console.error("no"); throw 1</script>'))])
  expect(await one.problems()).toEqual([])
  expect((await other.problems()).toSorted()).toEqual(['1', 'no'])
  expect(await one.evaluate('thereIsNoSuchThing').catch(String)).toContain('ReferenceError')
  await Promise.all([one.close(), other.close()])
})

test('an order without an end has one', async () => {
  const page = browser.open()
  expect(await page.call('click', '#nothing', { timeout: 50 }).catch(String)).toContain('Timeout 50ms')
  await page.close()
})

test('a browser that is not there is an error that says so', async () => {
  process.env['TOLLGATE_TEST_BROWSER'] = '/nowhere/chromium'
  expect(await startBrowser({ isOwn: true }).catch(String)).toContain('/nowhere/chromium')
  delete process.env['TOLLGATE_TEST_BROWSER']
})

test('what is asked of one that is gone is an error at once', async () => {
  const short = await startBrowser({ isOwn: true })
  const page = short.open()
  await short.close()
  expect(await page.goto('about:blank').catch(String)).toContain('the browser ended with 0')
}, 60_000)

test('it plays what phones film: H.264 and AAC in MP4', async () => {
  const page = browser.open()
  const verdict = await page.evaluate(
    `document.createElement('video').canPlayType('video/mp4; codecs="avc1.42E01E, mp4a.40.2"')`,
  )
  expect(verdict).toBe('probably')
  await page.close()
})
