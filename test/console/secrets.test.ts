/**
 * Every secret of the console, entered by hand in a browser: keys, management keys, vendor credentials, codes, links,
 * playground tokens, session tokens and passwords. After its dialog closes, a secret is in no page, URL, history or
 * storage. It is never in a log, a metric, the audit log, an error or an export, and never in clear on the disk.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserPage } from '../support/browser.ts'
import { filesOf, found } from '../support/canary.ts'
import { expectQuiet, openStage, PASSWORD, type ConsoleStage } from '../support/console-browser.ts'
import { button, field, inDialog } from '../support/selectors.ts'

const upstreamKey = `sk-upstream-${crypto.randomUUID()}`
const newPassword = `a passphrase ${crypto.randomUUID()}`

let stage: ConsoleStage
let page: BrowserPage
/** What was seen on its way to the page, or typed into it. */
const secrets: Record<string, string> = { upstreamKey, newPassword, password: PASSWORD }

/** Notes the secrets in all answers from now on, where nothing of the page is looked at. */
const LISTEN = `(() => {
  const real = window.fetch
  window.noted ??= []
  window.fetch = async (...asked) => {
    const answer = await real(...asked)
    answer.clone().text().then((text) =>
      window.noted.push(...(text.match(/(?:sk-tg-|mk-tg-|setup_|TG-)[\\w-]{15,}/g) ?? [])), () => undefined)
    return answer
  }
})()`
const KEPT = `JSON.stringify([
  document.documentElement.outerHTML, [...document.querySelectorAll('input, textarea')].map(({ value }) => value),
  location.href, document.referrer, document.title, history.state, { ...localStorage }, { ...sessionStorage },
  document.cookie, performance.getEntriesByType('resource').map(({ name }) => name),
])`

async function open(path: string, shows: string): Promise<void> {
  await page.goto(stage.url + path)
  await page.appears(shows)
  await page.evaluate(LISTEN)
}
/** The one secret that was noted since the page was opened. */
async function noted(name: string): Promise<string> {
  const all = new Set(await page.evaluate<string[]>('window.noted'))
  expect([name, all.size]).toEqual([name, 1])
  const [secret = ''] = all
  secrets[name] = secret
  return secret
}
/** A dialog takes a moment to go. */
async function expectForgotten(): Promise<void> {
  let left = found(await page.evaluate<string>(KEPT), secrets)
  for (let i = 0; i < 40 && left.length > 0; i++) {
    await Bun.sleep(50)
    left = found(await page.evaluate<string>(KEPT), secrets)
  }
  expect(left).toEqual([])
}

beforeAll(async () => {
  stage = await openStage({ env: { TOLLGATE_LOG: 'debug' } })
  const link = await stage.invite({ name: 'oscar', role: 'operator' })
  secrets['link'] = link.split('#')[1] ?? ''
  page = stage.browser.open({ viewport: { width: 1280, height: 900 } })
  await page.goto(link)
  await page.fill(field('New password'), PASSWORD)
  await page.fill(field('Confirm password'), PASSWORD)
  await page.click(button('Save and sign in'))
  await page.appears('#main h1')
  const answer = await fetch(new URL('/admin/v1/session', stage.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'oscar', password: PASSWORD }),
  })
  secrets['session'] = /=(\w{43});/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? ''
  expect(secrets['session']).toHaveLength(43)
  await expectForgotten()
}, 90_000)
afterAll(() => stage.close(), 30_000)

const account = (): string => `/a/${stage.gateway.accountId}`

test('a key, after its dialog', async () => {
  await open(`${account()}/keys?dialog=new`, inDialog(field('Name')))
  await page.fill(inDialog(field('Name')), 'canary')
  await page.click(inDialog(button('Create key')))
  await page.click(inDialog(button('Show the key')))
  expect(await page.text(inDialog('code[data-private]'))).toBe(await noted('key'))
  await page.click(inDialog(button('Send a test request')))
  await page.appears('text=Verified')
  await page.click(inDialog(button('Done')))
  await expectForgotten()
}, 60_000)

test('a management key, which is not even shown', async () => {
  await open('/operator/settings?tab=programs', 'main section')
  await page.click(button('Create management key'))
  await page.fill(inDialog(field('Name')), 'canary')
  await page.click(inDialog(button('Create management key')))
  await page.appears(inDialog(button('Done')))
  const secret = await noted('managementKey')
  expect(await page.evaluate<string>(KEPT)).not.toContain(secret)
  await page.click(inDialog(button('Done')))
  await expectForgotten()
}, 60_000)

test('codes, after their dialog', async () => {
  await open('/operator/codes?dialog=new', inDialog(field('Dollars each')))
  await page.fill(inDialog(field('Dollars each')), '1.00')
  await page.click(inDialog(button('Create codes')))
  expect((await page.text(inDialog('pre'))).trim()).toBe(await noted('code'))
  await page.click(inDialog(button('Done')))
  await expectForgotten()
}, 60_000)

test('a link for somebody, after its dialog', async () => {
  await open('/operator/settings', 'main section')
  await page.click(button('Invite'))
  await page.fill(inDialog(field('Name')), 'guest of canary')
  await page.click(inDialog(button('Invite')))
  await page.appears(inDialog('pre'))
  const secret = await noted('invitation')
  expect(await page.text(inDialog('pre'))).toContain(secret)
  await page.click(inDialog(button('Done')))
  await expectForgotten()
}, 60_000)

test('a vendor’s credential, from the moment it is saved', async () => {
  await open('/operator/providers?dialog=new', inDialog(field('ID')))
  await page.fill(inDialog(field('ID')), 'canary')
  await page.fill(inDialog(field('Base URL')), 'http://127.0.0.1:9/v1')
  await page.fill(inDialog('input[type=password]'), upstreamKey)
  await page.click(inDialog('role=checkbox'))
  await page.click(inDialog(button('Add provider')))
  await page.appears(inDialog(button('Test')))
  await expectForgotten()
  await page.click(inDialog(button('Test')))
  await page.appears('text=/9|connect|reach|refused/i')
  await expectForgotten()
}, 60_000)

test('the token of the playground, at any time', async () => {
  await open(`${account()}/playground`, 'textarea')
  await page.fill(field('Message'), 'Hello there')
  await page.press(field('Message'), 'Enter')
  await page.appears('text=/\\d+ in, \\d+ out/')
  const secret = await noted('playgroundToken')
  expect(await page.evaluate<string>(KEPT)).not.toContain(secret)
  await page.click(button('As code'))
  await page.appears('role=dialog >> pre')
  expect(await page.evaluate<string>(KEPT)).not.toContain(secret)
}, 60_000)

test('passwords, once they are sent', async () => {
  await open('/you', 'role=table')
  await page.fill(field('Current password'), PASSWORD)
  await page.fill(field('New password'), newPassword)
  await page.click(button('Change password'))
  await page.appears('text=Changed.')
  await expectForgotten()
}, 60_000)

test('any of them, on the way back through all pages', async () => {
  for (let back = 0; back < 12; back++) {
    await page.call('goBack').catch(() => undefined)
    await Bun.sleep(100)
    // Before the first page.
    if ((await page.evaluate<string>('location.href')) === 'about:blank') return expect(back).toBeGreaterThan(5)
    expect(found(await page.evaluate<string>(KEPT), secrets)).toEqual([])
  }
}, 60_000)

describe('nothing of it is', () => {
  test('on the disk in clear, nor in a backup', async () => {
    const { gateway } = stage
    const folder = join(gateway.folder, 'backups')
    mkdirSync(folder)
    const file = join(folder, 'whole.db')
    await gateway.operate('backup', { file, secrets: 'included' })
    const files = new Map([...filesOf(gateway.folder), ...filesOf(folder)])
    expect([...files.keys()]).toEqual(expect.arrayContaining(['whole.db', 'tollgate.db', 'tollgate.db-wal']))
    for (const [name, bytes] of files) expect({ name, found: found(bytes, secrets) }).toEqual({ name, found: [] })
    const bare = join(folder, 'bare.db')
    await gateway.operate('backup', { file: bare })
    const pepper = readFileSync(join(gateway.folder, 'key.pepper'), 'latin1').trim()
    expect(readFileSync(bare, 'latin1')).not.toContain(pepper)
  })

  test('in the log at its most talkative, the metrics, or what the operator’s socket shows', async () => {
    const { gateway } = stage
    const log = gateway.output().slice(gateway.output().indexOf('{"time"'))
    expect(log.length).toBeGreaterThan(500)
    expect(found(log, secrets)).toEqual([])
    expect(found(await gateway.metrics(), secrets)).toEqual([])
    const names = ['doctor', 'key.list', 'provider.list', 'user.list', 'account.list']
    const shown = await Promise.all(names.map((name) => gateway.operate(name)))
    expect(found(JSON.stringify(shown), secrets)).toEqual([])
  })

  test('in any answer, the audit log’s and the errors’ among them', async () => {
    const origin = new URL(stage.url).origin
    const program = { authorization: `Bearer ${secrets['managementKey']}`, 'content-type': 'application/json' }
    const at = `/accounts/${stage.gateway.accountId}`
    const get = async (path: string): Promise<string> =>
      (await fetch(`${origin}/admin/v1${path}`, { headers: program })).text()
    const paths = ['/audit?limit=200', '/codes', '/providers', '/health', '/settings', `${at}/keys`, `${at}/requests`]
    for (const path of [...paths, `${at}/ledger?format=csv`, `${at}/usage?by=key&format=csv`, '/accounts']) {
      expect({ path, found: found(await get(path), secrets) }).toEqual({ path, found: [] })
    }
    expect(await get('/audit?action=management_key.create')).toContain('canary')
    // Each secret where another thing is expected: what is said of it does not repeat it.
    for (const [name, secret] of Object.entries(secrets)) {
      const bodies = [
        ['POST', '/links/redeem', { token: secret, password: secret, name: 'x' }],
        ['POST', '/session', { name: 'oscar', password: secret, [secret]: 1 }],
        ['POST', `${at}/redemptions`, { code: `${secret}!` }],
        ['POST', '/providers', { id: 'x y', preset: 'custom', base_url: `http://u:${secret}@h/`, key: `${secret}\n` }],
      ] as const
      for (const [method, path, body] of bodies) {
        const init = { method, headers: program, body: JSON.stringify(body) }
        const text = await (await fetch(`${origin}/admin/v1${path}`, init)).text()
        expect({ name, path, has: path !== '/session' && text.includes(secret) }).toEqual({ name, path, has: false })
      }
    }
    expect(found(await get('/audit?limit=200'), secrets)).toEqual([])
    expect(found(stage.gateway.output().slice(stage.gateway.output().indexOf('{"time"')), secrets)).toEqual([])
  })

  test('what the browser complained of', () => expectQuiet(page, [502, 410]))
})
