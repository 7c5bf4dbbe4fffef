/**
 * npm run screenshots [-- WORDS]: every page and dialog of the console as pictures in `.tmp/screenshots`, light and
 * dark, in both languages, wide and narrow, over a month of requests. WORDS narrow them to looks and names that have
 * one in them, such as `narrow/operator` or `dark-zh-CN-wide/operator-prices`.
 */
import { Database } from 'bun:sqlite'
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { seed } from '../../bench/console-seed.ts'
import { openStage, type ConsoleStage } from './console-browser.ts'
import { accountPlaces, addressOf, operatorPlaces, type Place } from './console-places.ts'
import type { BrowserPage } from './browser.ts'
import { freshFolder, startGateway } from './gateway.ts'
import { dressUpForOperators, operatorScenes, overlayScenes, vendorKeys } from './operator-scenes.ts'

const OUT = resolve(import.meta.dir, '../../.tmp/screenshots')
const REQUESTS = 60_000
const SETTLE_MS = 250
const WAIT_MS = 8_000

const looks = ['light', 'dark'].flatMap((theme) =>
  ['en', 'zh-CN'].flatMap((language) => [
    { theme, language, name: 'wide', width: 1360, height: 860 },
    { theme, language, name: 'narrow', width: 360, height: 780 },
  ]),
)
type Look = (typeof looks)[number]

const words = process.argv.slice(2)
const places = [...accountPlaces, ...operatorPlaces, ...operatorScenes, ...overlayScenes]
const isWanted = (name: string): boolean => words.length === 0 || words.some((word) => name.includes(word))

/** Numbers as they are in life: a busy account with names of every length, and a rich one. */
function dressUp(folder: string, accountId: string): void {
  const db = new Database(join(folder, 'tollgate.db'))
  const names = [
    'prod backend',
    'staging',
    'nightly evaluation of everything that the research group has ever made',
    'bot',
  ]
  const keys = db.query('SELECT id FROM api_key WHERE account_id = ?').all(accountId) as { id: string }[]
  keys.forEach(({ id }, i) => db.run('UPDATE api_key SET name = ? WHERE id = ?', [names[i] ?? `key ${i}`, id]))
  db.run("UPDATE account SET name = 'Acme Robotics' WHERE id = ?", [accountId])
  db.run(
    "UPDATE account SET posted = 3999999999999999999, name = 'The Very Long Name of a Company With Much Money' WHERE name = 'seeded 1'",
  )
  db.close()
}

type Scene = {
  readonly stage: ConsoleStage
  readonly values: Readonly<Record<string, string>>
  readonly folder: string
}

async function openScene(): Promise<Scene> {
  const folder = freshFolder()
  await (await startGateway({ folder })).crash()
  const { accountId, keyId } = seed(folder, REQUESTS)
  dressUp(folder, accountId)
  const stage = await openStage({ folder, as: { accountId, key: '' }, env: vendorKeys })
  const { gateway } = stage
  const { secret } = await gateway.operate<{ secret: string }>('key.create', {
    account: accountId,
    name: 'first steps',
  })
  const call = async (path: string, body: object): Promise<string | null> => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const answer = await fetch(`${gateway.baseUrl}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    await answer.arrayBuffer()
    return answer.headers.get('x-request-id')
  }
  const messages = [{ role: 'user', content: 'What is a tollgate? '.repeat(20) }]
  await call('images/generations', { model: 'sandbox-image', prompt: 'a gate' })
  await call('images/generations', { model: 'sandbox-image-classic', prompt: 'a gate', size: '256x256', n: 2 })
  const request = await call('chat/completions', { model: 'sandbox-chat', stream: true, messages })
  await gateway.operate('account.credit', { account: accountId, amount: '250.00', reason: 'invoice 2026-117' })
  await gateway.operate('code.create', { count: 3, amount: '25.00', note: 'autumn campaign' })
  const more = await dressUpForOperators(gateway)
  const accounts = await gateway.operate<{ id: string; name: string }[]>('account.list')
  const rich = accounts.find(({ name }) => name.startsWith('The Very Long'))?.id ?? ''
  return { stage, folder, values: { account: accountId, key: keyId, request: request ?? '', rich, ...more } }
}

/** A page that does not come is a picture too, and a word about it: a step that cannot be taken ends them. */
async function take(page: BrowserPage, steps: Place['steps'] = []): Promise<void> {
  for (const [method, ...args] of steps) {
    try {
      await page.call(method, ...args)
    } catch (error) {
      return console.log(
        `${await page.evaluate<string>('location.href')} ${method} ${JSON.stringify(args)}: ${String(error).split('\n')[0]}`,
      )
    }
  }
}

async function shoot({ stage, values }: Scene, { theme, language, name, width, height }: Look): Promise<void> {
  const look = `${theme}-${language}-${name}`
  const wanted = places.filter((place) => isWanted(`${look}/${place.name}`))
  if (wanted.length === 0) return
  const page = await stage.enter(
    { name: `${theme} ${language} ${name}`, role: 'operator' },
    { viewport: { width, height }, colorScheme: theme, locale: 'en' },
  )
  await page.evaluate(
    `localStorage.setItem('tollgate', JSON.stringify({ language: '${language}', account: '${values['account']}' }))`,
  )
  await page.call('setDefaultTimeout', WAIT_MS)
  const folder = join(OUT, look)
  mkdirSync(folder, { recursive: true })
  for (const place of wanted) {
    await page.call('setViewportSize', { width, height: Math.max(height, place.height ?? 0) })
    await page.goto(stage.url + addressOf(place, values))
    const shows = language === 'en' ? place.shows : place.shows.replace(/text=\w+/, 'dl')
    await take(page, [['waitForSelector', shows], ...(place.steps ?? [])])
    await Bun.sleep(SETTLE_MS)
    await Bun.write(join(folder, `${place.name}.png`), await page.screenshot())
    await take(page, place.undo)
  }
  for (const problem of await page.problems()) console.log(`${look}: ${problem}`)
  await page.close()
  const door = stage.browser.open({ viewport: { width, height }, colorScheme: theme, locale: language })
  await door.goto(`${stage.url}/sign-in`)
  await door.appears('h1')
  await Bun.write(join(folder, 'sign-in.png'), await door.screenshot())
  await door.close()
}

if (import.meta.main) {
  rmSync(OUT, { recursive: true, force: true })
  const scene = await openScene()
  for (const look of looks) await shoot(scene, look)
  await scene.stage.browser.close()
  await scene.stage.gateway.crash()
  rmSync(scene.folder, { recursive: true, force: true })
  console.log(OUT)
}
