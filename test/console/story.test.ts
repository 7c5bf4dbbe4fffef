/** The console as people use it, from the first link to the last sign-out, in a real browser. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { BrowserPage } from '../support/browser.ts'
import { expectQuiet, openStage, PASSWORD, type ConsoleStage } from '../support/console-browser.ts'
import { button, field, inDialog } from '../support/selectors.ts'

let stage: ConsoleStage

beforeAll(async () => {
  stage = await openStage()
}, 90_000)
afterAll(() => stage.close(), 30_000)

const chatWith = (key: string): Promise<Response> =>
  fetch(`${stage.gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'Hello' }] }),
  })
const pathOf = async (page: BrowserPage): Promise<string> =>
  page.evaluate<string>('location.pathname + location.search')
async function until(page: BrowserPage, condition: string): Promise<void> {
  for (let i = 0; i < 100; i++) {
    if (await page.evaluate<boolean>(condition)) return
    await Bun.sleep(50)
  }
  throw new Error(`it did not come to pass that ${condition}`)
}
/** Everything a page could keep a secret in. */
const kept = `JSON.stringify([document.documentElement.outerHTML, location.href, { ...localStorage }, { ...sessionStorage }, document.cookie])`

/** A key by the form, and its secret as it is shown. */
async function makeKey(page: BrowserPage, name: string): Promise<string> {
  await page.click(button('Create key'))
  await page.fill(inDialog(field('Name')), name)
  await page.click(inDialog(button('Create key')))
  await page.click(inDialog(button('Show the key')))
  return page.text(inDialog('code[data-private]'))
}

test('first run: link, password, key, test request, verified', async () => {
  const page = stage.browser.open({ viewport: { width: 1280, height: 800 } })
  const [, link = ''] = /(\S+\/console\/setup#\S+)/.exec(stage.gateway.output()) ?? []
  await page.goto(link)
  await page.fill(field('Name'), 'robin')
  await page.fill(field('New password'), PASSWORD)
  await page.fill(field('Confirm password'), `${PASSWORD}!`)
  await page.appears('text=The passwords do not match.')
  await page.fill(field('Confirm password'), PASSWORD)
  await page.click(button('Save and sign in'))
  await page.appears('text=Get started')
  expect(await pathOf(page)).toMatch(/^\/console\/a\/acct_\w+\/overview$/)
  await page.click('role=link[name="Create key"]')
  await page.fill(inDialog(field('Name')), 'first')
  await page.click(inDialog(button('Create key')))
  // Blurred, and not even in the page before somebody wants to see it.
  await page.appears(inDialog('code[data-private]'))
  expect(await page.text(inDialog('code[data-private]'))).toContain('••••')
  await page.click(inDialog(button('Send a test request')))
  await page.appears('text=Verified: the key works.')
  await page.appears('text=/\\d+ tokens, \\$0\\.000\\d+, /')
  // Nobody closes it by mistake before the key is copied.
  await page.click(inDialog(button('Done')))
  await page.appears('text=You have not copied the key.')
  await page.click(inDialog(button('Show the key')))
  const secret = await page.text(inDialog('code[data-private]'))
  expect(secret).toMatch(/^sk-tg-\w{49}$/)
  await page.click(inDialog('role=button[name=/^(Done|Close anyway)$/]'))
  await page.call('waitForSelector', 'role=dialog', { state: 'detached' })
  expect(await page.evaluate<string>(kept)).not.toContain(secret)
  expect((await chatWith(secret)).status).toBe(200)
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('a key is made, limited, used and revoked by its name; the next call is refused', async () => {
  const page = await stage.enter({ name: 'kim', role: 'owner' })
  await page.click('role=link[name="Keys"]')
  const secret = await makeKey(page, 'to be revoked')
  await page.click(inDialog(button('Done')))
  expect((await chatWith(secret)).status).toBe(200)
  await page.click(button('Change or revoke to be revoked'))
  await page.click('role=menuitem[name="Edit"]')
  await page.fill(inDialog(field('Dollars per day (UTC)')), 'much')
  await page.appears('text=Enter dollars, such as 25.00, or leave it empty.')
  await page.fill(inDialog(field('Dollars per day (UTC)')), '12.50')
  await page.click(inDialog(button('Save')))
  await page.appears('role=meter[name=/of \\$12\\.50/]')
  await page.click(button('Change or revoke to be revoked'))
  await page.click('role=menuitem[name="Revoke"]')
  await page.fill(inDialog('role=textbox'), 'to be revoke')
  expect(await page.call<boolean>('isDisabled', inDialog(button('Revoke')))).toBe(true)
  await page.fill(inDialog('role=textbox'), 'to be revoked')
  await page.click(inDialog(button('Revoke')))
  await page.appears('tbody >> text=Revoked')
  expect((await chatWith(secret)).status).toBe(401)
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('usage leads to requests, a request opens over them, and the way back keeps the filters', async () => {
  for (let i = 0; i < 3; i++) await (await chatWith(stage.gateway.key)).arrayBuffer()
  const page = await stage.enter({ name: 'lee', role: 'member' })
  await page.click('role=link[name="Usage"]')
  await page.click('role=link[name="sandbox-chat"]')
  await page.appears('role=table')
  expect(await pathOf(page)).toContain('/requests?range=30d&model=sandbox-chat')
  await page.call('selectOption', 'role=combobox[name="Status"]', 'completed')
  await until(page, `location.search.includes('outcome=completed')`)
  await page.click('role=row >> nth=1')
  await page.appears('text=Settled')
  expect(await pathOf(page)).toMatch(/\/requests\/req_\w+\?range=30d&model=sandbox-chat&outcome=completed$/)
  const first = await pathOf(page)
  await page.call('keyboard.press', 'ArrowRight')
  await until(page, `location.pathname + location.search !== '${first}'`)
  expect(await pathOf(page)).toMatch(/\?range=30d&model=sandbox-chat&outcome=completed$/)
  await page.call('keyboard.press', 'Escape')
  await page.call('waitForSelector', 'role=dialog', { state: 'detached' })
  expect(await pathOf(page)).toMatch(/\/requests\?range=30d&model=sandbox-chat&outcome=completed$/)
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('the lines of a price add up to what was charged, and the hold to charge and release', async () => {
  const answer = await chatWith(stage.gateway.key)
  await answer.arrayBuffer()
  const page = await stage.enter({ name: 'ann', role: 'owner' })
  await page.goto(`${stage.url}/a/${stage.gateway.accountId}/requests/${answer.headers.get('x-request-id')}`)
  await page.appears('text=Settled')
  const amounts = async (selector: string): Promise<bigint[]> =>
    (
      await page.evaluate<string[]>(
        `[...document.querySelectorAll('${selector}')].map((cell) => cell.querySelector('[title]:last-child').title)`,
      )
    ).map(nanoOf)
  const lines = await amounts('section[aria-label=Price] tbody td:last-child')
  const [total = -1n] = await amounts('section[aria-label=Price] tfoot td')
  expect(lines.reduce((sum, amount) => sum + amount, 0n)).toBe(total)
  const [held = 0n, settled, released = 0n] = await amounts('section[aria-label=Price] dd')
  expect(settled).toBe(total)
  expect(held).toBe(total + released)
  await page.close()
}, 60_000)

/** Of `$0.000396`. */
function nanoOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.replaceAll(/[$,]/g, '').split('.')
  return BigInt(whole + fraction.padEnd(9, '0'))
}

test('a code is made by the operator and redeemed by the owner, once', async () => {
  const operator = await stage.enter({ name: 'oscar', role: 'operator' })
  await operator.goto(`${stage.url}/operator/codes?dialog=new`)
  await operator.fill(inDialog(field('Dollars each')), '7.25')
  await operator.click(inDialog(button('Create codes')))
  const code = (await operator.text(inDialog('pre'))).trim()
  await operator.click(inDialog(button('Done')))
  expect(await operator.evaluate<string>(kept)).not.toContain(code)
  const owner = await stage.enter({ name: 'olga', role: 'owner' })
  const before = await stage.gateway.operate<{ available_nano_usd: string }>('account.show', {
    account: stage.gateway.accountId,
  })
  await owner.goto(`${stage.url}/a/${stage.gateway.accountId}/billing?dialog=redeem`)
  await owner.fill(inDialog(field('Code')), code)
  await owner.click(inDialog(button('Redeem')))
  await owner.appears('text=/\\$7\\.25 added/')
  await owner.click('role=dialog >> text=Close')
  const after = await stage.gateway.operate<{ available_nano_usd: string }>('account.show', {
    account: stage.gateway.accountId,
  })
  expect(BigInt(after.available_nano_usd) - BigInt(before.available_nano_usd)).toBe(7_250_000_000n)
  await owner.click(button('Redeem code'))
  await owner.fill(inDialog(field('Code')), code)
  await owner.click(inDialog(button('Redeem')))
  await owner.appears('text=/used, void, expired/')
  await Promise.all([operator.close(), owner.close()])
}, 60_000)

test('signing out everywhere ends the other browser too, at its next question', async () => {
  const here = await stage.enter({ name: 'max', role: 'owner' })
  const there = stage.browser.open({ viewport: { width: 1280, height: 800 } })
  await there.goto(`${stage.url}/sign-in`)
  await there.fill(field('Name'), 'MAX')
  await there.fill(field('Password'), 'not this one')
  await there.click(button('Sign in'))
  await there.appears('role=alert')
  await there.fill(field('Password'), PASSWORD)
  await there.click(button('Sign in'))
  await there.appears('#main h1')
  await here.click('role=button[name=/^max/]')
  await here.click('role=menuitem[name="Sign out everywhere"]')
  await here.appears('role=dialog >> text=/including this one/')
  await here.click('role=dialog >> role=button[name="Sign out everywhere"]')
  await here.appears('role=heading[name="Sign in"]')
  expect(await here.evaluate<string>('location.search')).toBe('')
  await there.click('role=link[name="Keys"]')
  await there.appears('role=heading[name="Sign in"]')
  // Whoever was signed out without wanting it goes on where they were.
  await there.fill(field('Name'), 'max')
  await there.fill(field('Password'), PASSWORD)
  await there.click(button('Sign in'))
  await there.appears('role=heading[name="Keys"]')
  await Promise.all([here.close(), there.close()])
}, 60_000)

test('whoever was on the way to a page gets there after signing in', async () => {
  await (await stage.enter({ name: 'pat', role: 'owner' })).close()
  const wanted = `/console/a/${stage.gateway.accountId}/requests?outcome=failed`
  const fresh = stage.browser.open()
  await fresh.goto(new URL(wanted, stage.url).href)
  await fresh.fill(field('Name'), 'pat')
  await fresh.fill(field('Password'), PASSWORD)
  await fresh.click(button('Sign in'))
  await fresh.appears('role=heading[name="Requests"]')
  expect(await pathOf(fresh)).toBe(wanted)
  await fresh.close()
}, 60_000)
