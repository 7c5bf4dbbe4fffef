/** Public models, the low-balance warning, server facts in Chinese, and navigation by id. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { violationsOf } from '../support/axe.ts'
import { expectQuiet, openStage, type ConsoleStage } from '../support/console-browser.ts'

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
  await page.fill('role=textbox[name="Warn below (dollars)"]', '4000000')
  await page.click('role=button[name="Save"]')
  await page.appears('text=/left, below your warning at \\$4,000,000.00/')
  expect(await violationsOf(page)).toEqual([])
  await page.goto(`${stage.url}/a/${accountId}/overview`)
  await page.appears('figure')
  await page.appears('text=/^below your warning at/')
  await page.appears('text=/left, below your warning at/')
  expect(await violationsOf(page)).toEqual([])
  const billing = '[role=status] >> role=link[name="Billing"]'
  await page.appears(billing)
  await page.goto(`${stage.url}/a/${accountId}/billing?tab=holds`)
  await page.appears('text=/left, below your warning at/')
  expect(await page.call<boolean>('isVisible', billing)).toBe(false)
  await expectQuiet(page)
  await page.goto(`${stage.url}/a/acct_other/billing`)
  await page.appears(billing)
  await page.close()
}, 60_000)

test('a page says when it asks by itself, so that no session is kept going by it', async () => {
  const page = await stage.enter({ name: 'nora', role: 'owner' })
  await page.call('clock.install')
  await page.call('reload')
  await page.appears('figure')
  await page.evaluate(`(() => {
    const { fetch } = window
    window.asked = []
    window.fetch = (url, init) => (asked.push([String(url), 'x-tollgate-unattended' in init.headers]), fetch(url, init))
  })()`)
  const asked = (): Promise<[string, boolean][]> => page.evaluate<[string, boolean][]>('asked.splice(0)')
  await page.click('role=link[name="Billing"]')
  await page.appears('dl')
  expect((await asked()).map(([, isAlone]) => isAlone)).not.toContain(true)
  // Answers come in their own time, and only after one the next is asked for.
  for (let i = 0; i < 3; i++) {
    await page.call('clock.runFor', 120_000)
    await Bun.sleep(300)
  }
  expect((await asked()).at(-1)).toEqual([expect.stringMatching(/\/session$/), true])
  await page.click('role=link[name="Keys"]')
  await page.appears('role=button[name="Create key"]')
  expect((await asked()).at(-1)).toEqual([expect.stringContaining('/keys'), false])
  await page.close()
}, 60_000)

test('the command bar leads to whatever has an id, of whichever account, and does things', async () => {
  const page = await stage.enter({ name: 'carla', role: 'operator' })
  const { gateway } = stage
  const elsewhere = await gateway.operate<{ id: string }>('account.create', { name: 'elsewhere' })
  const key = await gateway.operate<{ id: string }>('key.create', { account: gateway.accountId, name: 'jumped to' })
  const type = async (text: string, option: string): Promise<void> => {
    await page.call('keyboard.press', 'Control+k')
    await page.appears('role=combobox[name=/any ID/]')
    await page.call('keyboard.type', text)
    await page.appears(`role=option >> nth=0 >> text=${option}`)
    await page.call('keyboard.press', 'Enter')
  }
  // A dialog that goes gives the focus back: not to what was opened meanwhile.
  const dismiss = async (): Promise<void> => {
    await page.call('keyboard.press', 'Escape')
    await page.call('waitForSelector', 'role=dialog', { state: 'detached' })
  }
  await page.goto(`${stage.url}/a/${elsewhere.id}/overview`)
  await page.appears('figure')
  await type(requestId.replace('req_', 'chatcmpl-'), requestId)
  await page.appears('role=dialog >> text=Settled >> nth=0')
  expect(await page.evaluate<string>('location.pathname')).toContain(gateway.accountId)
  await page.goto(`${stage.url}/a/${elsewhere.id}/overview`)
  await page.appears('figure')
  await type(key.id, key.id)
  await page.appears('role=dialog >> text=/jumped to/')
  await dismiss()
  // Whoever has a video's id can fetch it: it leads there, and stays out of the address.
  const wanted = {
    model: 'sandbox-video',
    duration: 4,
    content: [{ type: 'text', text: 'x [sandbox: fails, task-ms=0]' }],
  }
  const made = await fetch(`${gateway.baseUrl}/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(wanted),
  })
  const { id: video } = (await made.json()) as { id: string }
  await type(video, video)
  await page.appears('role=dialog >> text=sandbox-video')
  expect(await page.evaluate<string>('location.search')).toBe(`?task=${made.headers.get('x-request-id')}`)
  await dismiss()
  await type('task_' + '0'.repeat(32), 'task_0000')
  await page.appears('role=dialog >> text=There is no such task.')
  expect(await page.evaluate<string>('location.search')).not.toContain('0'.repeat(10))
  await dismiss()
  await type(elsewhere.id, elsewhere.id)
  await page.appears('role=dialog >> role=heading[name="elsewhere"]')
  await dismiss()
  await type('dark', 'Dark')
  await page.appears('html[data-theme=dark]')
  await type('add model', 'Add model')
  await page.appears('role=dialog >> role=textbox[name="Public ID"]')
  await dismiss()
  await type('sign out', 'Sign out')
  await page.appears('role=heading[name="Sign in"]')
  await expectQuiet(page, [401, 404])
  await page.close()
}, 90_000)

test('the documents look as the console does, light or dark as was chosen there, and ask nobody else', async () => {
  const page = stage.browser.open({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' })
  const origin = new URL(stage.url).origin
  const colour = `document.querySelector('openapi-explorer').getAttribute('bg-color')`
  for (const [theme, looks] of [
    [undefined, '#f9fafb'],
    ['dark', '#0f1114'],
    ['light', '#f9fafb'],
  ]) {
    await page.goto(`${stage.url}/sign-in`)
    await page.evaluate(`localStorage.setItem('tollgate', '${JSON.stringify({ theme })}')`)
    await page.goto(`${origin}/docs`)
    await page.appears(`html[data-theme=${theme ?? 'light'}]`)
    expect(await page.evaluate<string | undefined>(colour)).toBe(looks)
  }
  const server = `document.querySelector('openapi-explorer').getAttribute('server-url')`
  expect(await page.evaluate<string | undefined>(server)).toBe(origin)
  const asked = await page.evaluate<readonly string[]>(
    `performance.getEntriesByType('resource').map(({ name }) => name)`,
  )
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.filter((url) => !url.startsWith(origin) && !/^(?:data|blob):/.test(url))).toEqual([])
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
