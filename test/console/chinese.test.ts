/** Server messages in Chinese: refusals with their original text, findings, imports and bookings. */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { violationsOf } from '../support/axe.ts'
import type { BrowserPage } from '../support/browser.ts'
import { expectQuiet, openStage, type ConsoleStage } from '../support/console-browser.ts'
import { freshFolder } from '../support/gateway.ts'
import { inDialog } from '../support/selectors.ts'

const folder = freshFolder()
let stage: ConsoleStage
let page: BrowserPage

beforeAll(async () => {
  stage = await openStage({ folder })
  page = await stage.enter({ name: 'olga', role: 'operator' })
  await page.evaluate(`localStorage.setItem('tollgate', '{"language":"zh-CN"}')`)
}, 90_000)
afterAll(() => stage.close(), 30_000)

test('a refusal is said in Chinese, and its original stays within reach', async () => {
  await stage.gateway.operate('account.create', { name: 'acme' })
  await page.goto(`${stage.url}/operator/accounts?dialog=new`)
  await page.fill(inDialog('input >> nth=0'), 'acme')
  await page.click(inDialog('[type=submit]'))
  await page.appears(inDialog('role=alert >> text=账户“acme”已存在。'))
  await page.click(inDialog('role=alert >> text=原文'))
  await page.appears(inDialog(`[lang=en] >> text=An account 'acme' exists already.`))
  expect(await violationsOf(page)).toEqual([])
  await expectQuiet(page, [409])
}, 60_000)

test('somebody who is not signed in reads why in Chinese', async () => {
  const door = stage.browser.open({ locale: 'zh-CN', viewport: { width: 800, height: 600 } })
  await door.goto(`${stage.url}/sign-in`)
  await door.fill('[autocomplete=username]', 'olga')
  await door.fill('[type=password]', 'not the password')
  await door.click('[type=submit]')
  await door.appears('role=alert >> text=用户名或密码不正确。')
  await door.close()
}, 60_000)

test('what an import changes and leaves out is said in Chinese', async () => {
  for (const id of ['openai', 'perplexity'])
    await stage.gateway.operate('provider.add', { id, preset: id, key: 'sk-nobody-calls' })
  await page.goto(`${stage.url}/operator/prices?tab=import`)
  await page.click('role=button[name="查看变化"]')
  await page.appears('text=可请求更短的向量 >> nth=0')
  await page.appears('ins >> text=是 >> nth=0')
  await page.click('summary >> text=忽略')
  await page.appears('text=provider perplexity: 除 token 外每次请求另收费用')
  const said = await page.evaluate<string>(`document.querySelector('main').innerText`)
  expect(said).not.toMatch(/\b(?:true|false|limit|dimensionsAdjustable|declare them|billed)\b/)
}, 60_000)

test('a booking that nobody typed has its reason in Chinese', async () => {
  const { id } = await stage.gateway.operate<{ id: string }>('account.create', { name: 'opened', balance: '5' })
  await page.goto(`${stage.url}/a/${id}/billing`)
  await page.appears('[title="opening balance"] >> text=初始余额')
}, 60_000)

test('what a verification finds is said in Chinese', async () => {
  const db = new Database(join(folder, 'tollgate.db'))
  const change = (by: number): void => void db.run("UPDATE account SET posted = posted + ? WHERE name = 'acme'", [by])
  change(7)
  await page.goto(`${stage.url}/operator/health`)
  await page.click('main header button')
  await page.appears('text=I2 账面余额等于账户分录之和')
  await page.appears('text=账面 7，分录 0')
  await page.appears('[title="posted 7, entries 0"]')
  change(-7)
  db.close()
  await page.close()
}, 60_000)
