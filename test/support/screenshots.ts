/**
 * npm run screenshots [-- WORDS]: every page and dialog of the console as pictures in `.tmp/screenshots`, light and
 * dark, in both languages, wide and narrow, over a month of requests. WORDS narrow them to looks and names that
 * have one in them, such as `narrow/operator` or `dark-zh-CN-wide/usage`, and `-word` to those that have not.
 */
import { Database } from 'bun:sqlite'
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { seed } from '../../bench/console-seed.ts'
import { accountScenes } from './account-scenes.ts'
import { enliven, makeRich, models } from './account-seed.ts'
import type { BrowserPage } from './browser.ts'
import { openStage, PASSWORD, type ConsoleStage } from './console-browser.ts'
import { accountPlaces, addressOf, operatorPlaces, type Place } from './console-places.ts'
import { freshFolder, startGateway } from './gateway.ts'
import { dressUpForOperators, operatorScenes, overlayScenes, vendorKeys } from './operator-scenes.ts'
import { wordsOf, type Scene as Shot, type Stand } from './scene.ts'

const OUT = resolve(import.meta.dir, '../../.tmp/screenshots')
const REQUESTS = 60_000
const SETTLE_MS = 250
const WAIT_MS = 8_000
/** A page behind another one gets no animation's end, which is what a player's sign that it loads waits for. */
const REST =
  "document.querySelectorAll('video[controls]').forEach((one) => ((one.controls = false), (one.controls = true)))"
/** Looks at the same time: a page waits more than it computes. */
const LANES = 3

const looks = ['light', 'dark'].flatMap((theme) =>
  ['en', 'zh-CN'].flatMap((language) => [
    { theme, language, name: 'wide', width: 1440, height: 900 },
    { theme, language, name: 'widest', width: 1920, height: 1080 },
    { theme, language, name: 'narrow', width: 360, height: 780 },
  ]),
)
type Look = (typeof looks)[number]

const wishes = process.argv.slice(2)
const [without, words] = [wishes.filter((word) => word.startsWith('-')), wishes.filter((word) => !word.startsWith('-'))]
const isWanted = (name: string): boolean =>
  (words.length === 0 || words.some((word) => name.includes(word))) &&
  !without.some((word) => name.includes(word.slice(1)))

/** Numbers as they are in life: a busy account with names of every length, and a rich one. */
function dressUp(folder: string, accountId: string): string {
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
  const rich = makeRich(db)
  db.close()
  return rich
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
  const rich = dressUp(folder, accountId)
  const stage = await openStage({
    folder,
    yaml: models,
    env: { ...vendorKeys, TOLLGATE_PUBLIC_MODELS: 'on', TOLLGATE_VIDEO_POLL_MS: '200' },
    as: { accountId, key: '' },
  })
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
  const others = await enliven(gateway, accountId, rich)
  return { stage, folder, values: { account: accountId, key: keyId, request: request ?? '', ...others } }
}

/** A page in which somebody is signed in: an operator, or the owner of an account; or nobody. */
async function enter({ stage, values }: Scene, look: Look, who: string): Promise<BrowserPage> {
  const { theme, language, name, width, height } = look
  const viewport = { width, height }
  if (who === 'nobody') return stage.browser.open({ viewport, colorScheme: theme, locale: language })
  const page = stage.browser.open({ viewport, colorScheme: theme, locale: 'en' })
  const person = { name: `${theme} ${language} ${name} ${who}`, role: who === 'operator' ? who : 'owner' }
  const account = who === 'operator' ? {} : { account: values[who] }
  const made = await stage.gateway.operate<{ setup_path: string }>('user.create', { ...person, ...account })
  await page.goto(new URL(stage.url).origin + made.setup_path)
  await page.fill('role=textbox[name="New password"]', PASSWORD)
  await page.fill('role=textbox[name="Confirm password"]', PASSWORD)
  await page.click('role=button[name="Save and sign in"]')
  await page.appears('#main h1')
  const chosen = { language, ...(who === 'operator' && { account: values['account'] }) }
  await page.evaluate(`localStorage.setItem('tollgate', '${JSON.stringify(chosen)}')`)
  return page
}

/** Places have steps that are in no language; scenes act in the one that they find. */
type Screenshot = Shot & Pick<Place, 'steps' | 'undo' | 'height'>

const operators = [...accountPlaces, ...operatorPlaces, ...operatorScenes, ...overlayScenes]
const shots: readonly Screenshot[] = [
  ...operators.map((place) => ({ ...place, who: 'operator' as const })),
  ...accountScenes,
]

async function take(page: BrowserPage, steps: Place['steps'] = []): Promise<void> {
  for (const [method, ...args] of steps) await page.call(method, ...args)
}

async function shoot(scene: Scene, look: Look, all: readonly Screenshot[]): Promise<void> {
  const { stage, values } = scene
  const called = `${look.theme}-${look.language}-${look.name}`
  const wanted = all.filter(({ name }) => isWanted(`${called}/${name}`))
  if (wanted.length === 0) return
  const folder = join(OUT, called)
  mkdirSync(folder, { recursive: true })
  const words = wordsOf(look.language)
  for (const [who, own] of Map.groupBy(wanted, (shot) => shot.who)) {
    const page = await enter(scene, look, who)
    await page.call('setDefaultTimeout', WAIT_MS)
    const stand: Stand = { page, words, gateway: stage.gateway, url: stage.url, values }
    for (const shot of own) {
      await page.call('setViewportSize', { width: look.width, height: Math.max(look.height, shot.height ?? 0) })
      await page.goto(stage.url + addressOf(shot, values))
      const shows = look.language === 'en' ? shot.shows : shot.shows.replace(/text=\w+/, 'dl')
      const settle = async (): Promise<unknown> => {
        await page.call('waitForSelector', shows, { timeout: WAIT_MS })
        await take(page, shot.steps)
        return shot.act?.(stand)
      }
      // A page that does not come is a picture too, and a word about it.
      await settle().catch((error: unknown) => {
        console.log(`${folder.slice(OUT.length)} ${shot.name}: ${String(error).split('\n')[0]}`)
      })
      await page.evaluate(REST)
      await Bun.sleep(SETTLE_MS)
      // What lies over the page is as high as the window: of a higher picture it would cover only the top.
      const fullPage = !(await page.evaluate<boolean>(`document.querySelector('[role=dialog]') !== null`))
      const picture = await page.call<string>('screenshot', { fullPage })
      await Bun.write(join(folder, `${shot.name}.png`), Buffer.from(picture, 'base64'))
      await take(page, shot.undo)
    }
    for (const problem of await page.problems()) console.log(`${folder.slice(OUT.length)} ${who}: ${problem}`)
    await page.close()
  }
}

async function shootAll(scene: Scene, wanted: readonly Screenshot[]): Promise<void> {
  const left = [...looks]
  const lane = async (): Promise<void> => {
    for (let look = left.shift(); look; look = left.shift()) await shoot(scene, look, wanted)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

if (import.meta.main) {
  rmSync(OUT, { recursive: true, force: true })
  const scene = await openScene()
  const { stage, folder, values } = scene
  const isAnybodys = ({ who }: Screenshot): boolean => who === 'nobody'
  // First of all: once there is an operator, the link for the first one is no good any more.
  await shootAll(scene, shots.filter(isAnybodys))
  const others = await dressUpForOperators(stage.gateway)
  await shootAll(
    { ...scene, values: { ...values, ...others } },
    shots.filter((shot) => !isAnybodys(shot)),
  )
  await stage.browser.close()
  await stage.gateway.crash()
  rmSync(folder, { recursive: true, force: true })
  console.log(OUT)
}
