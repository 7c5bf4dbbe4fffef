/**
 * The console of a large installation in a real browser: a thousand keys, five hundred people, three hundred accounts.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { violationsOf } from '../support/axe.ts'
import type { BrowserPage } from '../support/browser.ts'
import { expectQuiet, openStage, PASSWORD, type ConsoleStage } from '../support/console-browser.ts'
import { signedIn } from '../support/people.ts'
import { button, inDialog } from '../support/selectors.ts'

const KEYS = 1_000
const PEOPLE = 500
const ACCOUNTS = 300

let stage: ConsoleStage
let page: BrowserPage
let secret = ''

/** Sends as an operator, ten at a time. A browser needs three times as long. Returns the key of one of them. */
async function sendAll(cookie: string, path: string, bodies: readonly object[]): Promise<string> {
  const answers: { name?: string; secret?: string }[] = []
  for (let at = 0; at < bodies.length; at += 10) {
    const sent = bodies.slice(at, at + 10).map(async (body) => {
      const headers = { cookie, 'content-type': 'application/json' }
      const answer = await fetch(new URL(`/admin/v1/${path}`, stage.url), {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      expect(answer.status).toBe(200)
      return answer.json() as Promise<(typeof answers)[number]>
    })
    answers.push(...(await Promise.all(sent)))
  }
  return answers.find(({ name }) => name === 'robot 17')?.secret ?? ''
}
const named = (count: number, what: string, more: object = {}): readonly object[] =>
  Array.from({ length: count }, (_, n) => ({ name: `${what} ${n}`, ...more }))

beforeAll(async () => {
  stage = await openStage()
  page = await stage.enter({ name: 'olga', role: 'operator' }, { viewport: { width: 1440, height: 900 } })
  const account = stage.gateway.accountId
  const { cookie } = await signedIn(stage.gateway, { name: 'oscar', role: 'operator' })
  secret = await sendAll(cookie, `accounts/${account}/keys`, named(KEYS, 'robot'))
  await sendAll(cookie, 'users', named(PEOPLE, 'person', { role: 'member', account }))
  await sendAll(cookie, 'accounts', named(ACCOUNTS, 'team'))
}, 240_000)
afterAll(() => stage.close(), 30_000)

/** The page's content policy lets no tool of the browser's wait for a condition in text. */
async function until(condition: string): Promise<void> {
  const endMs = Date.now() + 20_000
  while (!(await page.evaluate<boolean>(condition))) {
    if (Date.now() > endMs) throw new Error(`not within 20 s: ${condition}`)
    await Bun.sleep(50)
  }
}
const rows = (): Promise<number> => page.evaluate<number>(`document.querySelectorAll('main tbody tr').length`)
const searchBox = 'main >> role=searchbox >> nth=0'

test('keys, people and accounts say how many there are, begin with the newest, and are searched whole', async () => {
  const lists = [
    { path: `/a/${stage.gateway.accountId}/keys`, newest: `robot ${KEYS - 1}`, old: 'robot 0', total: /100 of 1,00\d/ },
    {
      path: `/a/${stage.gateway.accountId}/settings`,
      newest: `person ${PEOPLE - 1}`,
      old: 'person 0',
      total: /100 of 50\d/,
    },
    { path: '/operator/accounts', newest: `team ${ACCOUNTS - 1}`, old: 'team 0', total: /100 of 30\d/ },
  ]
  for (const { path, newest, old, total } of lists) {
    await page.goto(`${stage.url}${path}`)
    await page.appears(`main tbody >> text="${newest}"`)
    expect(await page.text('main >> role=status >> nth=-1')).toMatch(total)
    expect(await rows()).toBe(100)
    await page.click(button('Show more'))
    await until(`document.querySelectorAll('main tbody tr').length === 200`)
    await page.fill(searchBox, old)
    await page.appears(`main tbody >> text="${old}"`)
    await page.fill(searchBox, 'no such thing')
    await page.appears('main >> text=/No matching keys|No matches|No matching accounts/')
  }
  await expectQuiet(page)
}, 120_000)

test('the switcher of accounts and the filter of keys find one of many by keyboard alone', async () => {
  await page.goto(`${stage.url}/a/${stage.gateway.accountId}/overview`)
  await page.call('focus', 'role=combobox[name="Show another account"]')
  await page.call('keyboard.press', 'Enter')
  await page.appears('role=dialog >> role=listbox')
  await page.call('keyboard.type', 'team 123')
  await page.appears('role=option[name="team 123"]')
  await until(`document.querySelectorAll('[role=option]').length === 1`)
  expect(await violationsOf(page)).toEqual([])
  await page.call('keyboard.press', 'Enter')
  await page.appears('role=combobox[name="Show another account"] >> text="team 123"')

  await page.goto(`${stage.url}/a/${stage.gateway.accountId}/requests`)
  await page.click('role=combobox[name="Key"]')
  await page.call('keyboard.type', 'robot 3')
  await page.appears('text=/^50 of 111 shown/')
  await page.call('keyboard.press', 'ArrowDown')
  await page.call('keyboard.press', 'ArrowUp')
  await page.call('keyboard.type', '33')
  await until(`document.querySelectorAll('[role=option]').length === 1`)
  await page.call('keyboard.press', 'Enter')
  await until(`location.search.startsWith('?key=key_')`)
  await page.appears('role=combobox[name="Key"] >> text="robot 333"')
  // Escape closes, and the focus is back on the button, as it is after a choice.
  await until(`document.activeElement.getAttribute('aria-label') === 'Key'`)
  await page.call('keyboard.press', 'Enter')
  await page.appears('role=listbox')
  await page.call('keyboard.press', 'Escape')
  await until(`document.querySelector('[role=listbox]') === null`)
  expect(await page.evaluate<string>(`document.activeElement.getAttribute('aria-label')`)).toBe('Key')
  await expectQuiet(page)
}, 120_000)

test('what an address leads to is there, however far down its list it stands', async () => {
  type Entries = {
    readonly data: readonly { readonly id: string; readonly action: string }[]
    readonly next_cursor: string
  }
  const entries = async (query: string): Promise<Entries> =>
    page.evaluate<Entries>(`fetch('/admin/v1/audit?limit=200${query}').then((answer) => answer.json())`)
  let last: Entries['data'][number] | undefined
  for (let at = await entries(''); ; at = await entries(`&cursor=${at.next_cursor}`)) {
    last = at.data.at(-1) ?? last
    if (at.next_cursor === null) break
  }
  await page.goto(`${stage.url}/operator/audit?open=${last?.id}`)
  await page.appears(`role=dialog >> role=heading[name="${last?.action}"]`)
  await page.appears('role=dialog >> text=Subject')
  await expectQuiet(page)
  const stray = await stage.enter({ name: 'stray', role: 'operator' })
  await stray.goto(`${stage.url}/operator/audit?open=aud_nothing`)
  await stray.appears('role=dialog >> text=There is no such entry.')
  await stray.goto(`${stage.url}/a/${stage.gateway.accountId}/keys?key=key_nothing`)
  await stray.appears('main >> text=There is no such key.')
  await expectQuiet(stray, [404])
  await stray.close()
}, 120_000)

test('ending a session asks first, and says which', async () => {
  const other = stage.browser.open({ viewport: { width: 1280, height: 800 } })
  await other.goto(`${stage.url}/sign-in`)
  await other.fill('role=textbox[name="Name"]', 'olga')
  await other.fill('role=textbox[name="Password"]', PASSWORD)
  await other.click(button('Sign in'))
  await other.appears('#main h1')
  await page.goto(`${stage.url}/you`)
  await page.click('main >> role=button[name="Sign out"]')
  await page.appears('role=dialog >> text=/The browser at 127.0.0.1/')
  await page.click(inDialog('role=button[name="Cancel"]'))
  expect(await rows()).toBe(2)
  await page.click('main >> role=button[name="Sign out"]')
  await page.click(inDialog('role=button[name="Sign out"]'))
  await until(`document.querySelectorAll('main tbody tr').length === 1`)
  await other.close()
}, 60_000)

test('a key that is pasted is in no address, and is found all the same', async () => {
  const asked: string[] = []
  await page.goto(`${stage.url}/operator/accounts`)
  await page.appears('main tbody tr')
  await page.evaluate(`(() => {
    window.asked = []
    const real = window.fetch
    window.fetch = (input, ...rest) => { window.asked.push(String(input.url ?? input)); return real(input, ...rest) }
  })()`)
  for (const text of [secret, `Bearer ${secret}`]) {
    await page.fill(searchBox, text)
    await page.appears('text=/This is an API key/')
  }
  await page.fill(searchBox, secret)
  await page.appears('text=/robot 17/')
  expect(await page.evaluate<string>('location.href')).not.toContain(secret.slice(0, 16))
  expect(await page.call('inputValue', searchBox)).toBe('')
  asked.push(...(await page.evaluate<string[]>('window.asked')))
  expect(asked.filter((url) => url.includes(secret.slice(0, 16)))).toEqual([])
  expect(asked.some((url) => url.endsWith('/secrets/lookup'))).toBe(true)
  await page.click('main >> role=link[name="Open the key"]')
  await page.appears(inDialog('text=/robot 17/'))

  // Straight into the address, into the requests' field, and into the command bar.
  await page.goto(`${stage.url}/operator/accounts?q=${secret}`)
  await page.appears('main tbody tr')
  expect(await page.call('inputValue', searchBox)).toBe('')
  await page.goto(`${stage.url}/a/${stage.gateway.accountId}/requests`)
  await page.fill('role=searchbox[name="Request ID"]', secret)
  await page.press('role=searchbox[name="Request ID"]', 'Enter')
  expect(await page.evaluate<string>('location.href')).not.toContain(secret.slice(0, 16))
  await page.call('keyboard.press', 'Control+k')
  await page.appears('role=dialog >> role=combobox')
  await page.call('keyboard.type', secret)
  await page.appears('role=option >> text="Find its owner"')
  await page.call('keyboard.press', 'Enter')
  await page.appears(inDialog('text=/robot 17/'))
  expect(await page.evaluate<string>('location.href')).not.toContain(secret.slice(0, 16))
}, 120_000)

test('what stops something asks first, and says what will stop', async () => {
  await page.goto(`${stage.url}/operator/providers?open=sandbox`)
  await page.click(inDialog(button('Drain')))
  await page.appears('text=/models lose their only provider/')
  expect(await violationsOf(page)).toEqual([])
  await page.click(`role=dialog[name=/^Drain/] >> ${button('Cancel')}`)
  await page.appears(inDialog(button('Drain')))

  await page.goto(`${stage.url}/operator/accounts?open=${stage.gateway.accountId}`)
  await page.click(inDialog(button('Suspend')))
  await page.appears('text=/1,00[0-9] keys stop working/')
  await page.click(`role=dialog[name=/^Suspend/] >> ${button('Suspend')}`)
  // The way back is asked for by nobody.
  await page.click(inDialog(button('Resume')))
  await page.appears(inDialog(button('Suspend')))

  await page.goto(`${stage.url}/a/${stage.gateway.accountId}/settings`)
  await page.fill(searchBox, 'person 499')
  await until(`document.querySelectorAll('main tbody tr').length === 1`)
  await page.click('main tbody >> role=button')
  await page.click('role=menuitem[name="Disable"]')
  await page.appears('text=/Disable person 499\\?/')
  await page.click(inDialog(button('Disable')))
  await page.appears('main tbody >> text="Disabled"')
  await expectQuiet(page)
}, 120_000)

test('what is in an address stands without quotes, and addresses with them lead where they led', async () => {
  await page.goto(`${stage.url}/operator/accounts`)
  await page.fill(searchBox, '12')
  await until(`location.search === '?q=12'`)
  await page.goto(`${stage.url}/operator/accounts?q=%2212%22`)
  await page.appears('main tbody >> text="team 12"')
  expect(await page.call('inputValue', searchBox)).toBe('12')
}, 60_000)
