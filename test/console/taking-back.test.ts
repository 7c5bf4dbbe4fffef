/** Emptied settings, confirmations before irreversible actions, and other details of forms. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { en } from '../../web/src/lib/i18n/en.ts'
import { zh } from '../../web/src/lib/i18n/zh.ts'
import { violationsOf } from '../support/axe.ts'
import type { BrowserPage } from '../support/browser.ts'
import { expectQuiet, openStage, type ConsoleStage } from '../support/console-browser.ts'
import { button, field, inDialog } from '../support/selectors.ts'

const PHONE = { width: 360, height: 780 }
const WIDE = { width: 1280, height: 800 }

let stage: ConsoleStage
let page: BrowserPage

beforeAll(async () => {
  stage = await openStage()
  page = await stage.enter({ name: 'olga', role: 'operator' })
}, 90_000)
afterAll(async () => {
  // An operator's pages are not there while one looks as a member.
  await expectQuiet(page, [400, 403, 404])
  await stage.close()
}, 30_000)

const speak = (language: 'en' | 'zh-CN'): Promise<void> =>
  page.evaluate(`localStorage.setItem('tollgate', JSON.stringify({ language: '${language}' }))`)

/** What is asked for takes half a second on the page that is open. */
const answerSlowly = (): Promise<void> =>
  page.evaluate(`{
    const ask = window.fetch
    window.fetch = async (what, how) => {
      if ((how?.method ?? 'GET') === 'GET') await new Promise((resolve) => setTimeout(resolve, 500))
      return ask(what, how)
    }
  }`)

test('a limit that is emptied is no limit, and a cost that is emptied is the sale price', async () => {
  const { gateway } = stage
  await gateway.operate('model.add', {
    id: 'bound',
    price: { input: '1', output: '2' },
    offers: [{ provider: 'sandbox', model: 'sandbox-chat', cost: { input: '7', output: '8' } }],
    context_tokens: 9_000,
    output_tokens_max: 900,
    first_event_timeout_ms: 999,
  })
  await page.goto(`${stage.url}/operator/models?open=bound`)
  await page.click(inDialog(button('Edit')))
  for (const name of ['Max output', 'First-token timeout, ms']) await page.fill(inDialog(field(name)), '')
  for (const name of ['Input / 1M', 'Output / 1M'])
    await page.fill(inDialog(`role=group[name="Offers"] >> role=textbox[name="${name}"]`), '')
  expect(await violationsOf(page)).toEqual([])
  // What is shown must have followed by the time it can be edited again, however slowly it does.
  await answerSlowly()
  await page.click(inDialog(button('Save')))
  await page.appears(inDialog(button('Edit')))
  type View = { id: string; limits: object; offers: { cost: object }[] }
  const views = await gateway.operate<View[]>('model.list')
  const bound = views.find(({ id }) => id === 'bound')
  expect(bound?.limits).toMatchObject({
    context_tokens: 9_000,
    output_tokens_max: null,
    first_event_timeout_ms: 60_000,
  })
  expect(bound?.offers[0]?.cost).toMatchObject({ input_usd_per_million: '1.00', output_usd_per_million: '2.00' })
  await page.click(inDialog(button('Edit')))
  const valueOf = (name: string): Promise<string> => page.call('inputValue', inDialog(field(name)))
  expect(await valueOf('Max output')).toBe('')
  expect(await valueOf('First-token timeout, ms')).toBe('60000')
}, 60_000)

test('whoever leaves a form that is being saved stays in the next one', async () => {
  const { accountId: account } = stage.gateway
  for (const name of ['one', 'two']) await stage.gateway.operate('key.create', { account, name })
  await page.goto(`${stage.url}/a/${account}/keys`)
  const editKey = async (name: string): Promise<void> => {
    await page.click(button(`Change or revoke ${name}`))
    await page.click('role=menuitem[name="Edit"]')
  }
  await editKey('one')
  await page.fill(inDialog(field('Name')), 'first')
  await answerSlowly()
  await page.click(inDialog(button('Save')))
  await page.call('keyboard.press', 'Escape')
  await editKey('two')
  await page.fill(inDialog(field('Name')), 'second')
  await Bun.sleep(1_500)
  expect(await page.call<string>('inputValue', inDialog(field('Name')))).toBe('second')
  await page.click(inDialog(button('Save')))
  await page.appears('role=row[name=/second/]')
  await page.appears('role=row[name=/first/]')
}, 60_000)

test('the key of a provider is taken away, and its address is its vendor’s again', async () => {
  const mirror = { id: 'mistral', base_url: 'https://mirror.example.com/v1', key: 'nobody-calls' }
  await stage.gateway.operate('provider.add', mirror)
  await page.goto(`${stage.url}/operator/providers?open=mistral`)
  await page.click(inDialog(button('Edit')))
  await page.fill(inDialog(field('Base URL')), '')
  await page.click(inDialog(button('Save')))
  // The key is for the mirror.
  await page.appears(inDialog('role=alert'))
  await page.click(inDialog('role=checkbox[name="Delete the stored key"]'))
  await page.click(inDialog(button('Save')))
  await page.appears(inDialog('text=https://api.mistral.ai/v1'))
  type View = { id: string }
  const views = await stage.gateway.operate<View[]>('provider.list')
  const after = { base_url: 'https://api.mistral.ai/v1', has_key: false }
  expect(views.find(({ id }) => id === 'mistral')).toMatchObject(after)
}, 60_000)

test.each([
  ['en', en, WIDE],
  ['zh-CN', zh, PHONE],
] as const)(
  'a code is voided after a second question (%s)',
  async (language, words, viewport) => {
    const note = `for ${language}`
    await stage.gateway.operate('code.create', { count: 1, amount: '12.50', note })
    // The newest comes first.
    const row = (): Promise<string> => page.text('main tbody tr >> nth=0')
    await speak(language)
    await page.call('setViewportSize', viewport)
    await page.goto(`${stage.url}/operator/codes`)
    const first = `main >> role=button[name=/^${words['codes.void']} /] >> nth=0`
    await page.click(first)
    await page.appears(inDialog(`text=${words['codes.voidText']}`))
    await page.appears(inDialog('text=$12.50'))
    await page.appears(inDialog(`text=${note}`))
    expect(await violationsOf(page)).toEqual([])
    // Whoever presses Enter at once has done nothing.
    await page.call('keyboard.press', 'Enter')
    await page.call('waitForSelector', 'role=dialog', { state: 'detached' })
    expect(await row()).toContain(words['codes.open'])
    await page.click(first)
    await page.click(inDialog(button(words['codes.void'])))
    await page.call('waitForSelector', 'role=dialog', { state: 'detached' })
    await page.appears(`main tbody tr >> nth=0 >> text=${words['codes.voided']}`)
    await page.call('reload')
    await page.appears(`main tbody tr >> nth=0 >> text=${words['codes.voided']}`)
  },
  60_000,
)

test.each([
  ['en', en],
  ['zh-CN', zh],
] as const)(
  'a shut fold with a mistake in it says so to those who do not see its sign (%s)',
  async (language, words) => {
    await speak(language)
    await page.goto(`${stage.url}/a/${stage.gateway.accountId}/playground?model=sandbox-chat`)
    const summary = `summary >> text=${words['play.parameters']}`
    const spoken = (): Promise<string> => page.text(`summary:has-text("${words['play.parameters']}")`)
    await page.click(summary)
    await page.fill(field(words['play.temperature']), '1')
    expect(await spoken()).not.toContain(words['fold.marked'])
    await page.fill(field(words['play.temperature']), '3')
    await page.click(summary)
    expect(await page.call<boolean>('isVisible', field(words['play.temperature']))).toBe(false)
    expect(await spoken()).toContain(words['fold.marked'])
    expect(await violationsOf(page)).toEqual([])
  },
  60_000,
)

test('the name of an account that is looked at can be read whole on a phone', async () => {
  const names = [`${'Institute for the Prolonged Evaluation of '.repeat(2)}Talk`, 'W'.repeat(100), '研究院'.repeat(33)]
  await speak('en')
  await page.call('setViewportSize', PHONE)
  for (const name of names) {
    const { id } = await stage.gateway.operate<{ id: string }>('account.create', { name })
    await page.goto(`${stage.url}/operator/accounts?open=${id}`)
    await page.click(inDialog(button('View as a member')))
    await page.appears(button('Exit view'))
    const banner = '[role=status]:has(button)'
    expect(await page.text(banner)).toContain(name)
    const cut = `[...document.querySelectorAll('${banner}, ${banner} *')].filter((one) =>
      one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline').length`
    expect([name, await page.evaluate<number>(cut)]).toEqual([name, 0])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    await page.click(button('Exit view'))
    await page.appears('role=heading[name="Accounts"]')
  }
}, 60_000)
