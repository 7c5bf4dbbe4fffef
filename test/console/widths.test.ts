/**
 * Every page of the console at every width, in several time zones and both languages, after a month with many people.
 * Nothing is wider than the window, overlaps or is cut off, and the days and sums of each zone are right. The console
 * is loaded once per walk, and each of its pages is resized. The short form checks each page in both languages and each
 * width in one zone, chosen by a seed. The long form checks all.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Database } from 'bun:sqlite'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { seed } from '../../bench/console-seed.ts'
import { enliven, makeRich, models } from '../support/account-seed.ts'
import type { BrowserPage } from '../support/browser.ts'
import { openStage, type ConsoleStage } from '../support/console-browser.ts'
import { accountPlaces, addressOf, operatorPlaces, type Place } from '../support/console-places.ts'
import { hoursOf, seedCrowd, type Hour } from '../support/crowd.ts'
import { freshFolder, startGateway } from '../support/gateway.ts'
import { LAYOUT_FAULTS } from '../support/layout.ts'
import { countOf, seedOfRun } from '../support/soaks.ts'

const WIDTHS = [360, 768, 1366, 1440, 1920] as const
const HEIGHT = 900
/** In how many of the zones each width of a page is looked at, and where their turns begin. */
const ZONES_OF_A_WIDTH = countOf('layouts')
const FIRST = seedOfRun()
const REQUESTS = 8_000
/** Two frames: sizes that scripts follow are drawn in the second. */
const SETTLED = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))'
/** The page of an address that does not exist. */
const NOWHERE = 'main > h1 + p + a'
const zones = [
  { zone: 'UTC', language: 'en' },
  { zone: 'Europe/Berlin', language: 'en' },
  { zone: 'Asia/Shanghai', language: 'zh-CN' },
] as const
/** The walks through the pages, each in a browser page of its own. Two share the zone that has half of the widths. */
const walks = [
  { ...zones[0], name: zones[0].zone, turns: [0, 1] },
  { ...zones[1], name: zones[1].zone, turns: [0, 1] },
  { ...zones[2], name: zones[2].zone, turns: [0] },
  { ...zones[2], name: `${zones[2].zone}, the other half`, turns: [1] },
] as const

let stage: ConsoleStage
let values: Readonly<Record<string, string>>
let rich: string
let ofRich: typeof values
let hours: readonly Hour[]
const pages = new Map<string, BrowserPage>()

beforeAll(async () => {
  const folder = freshFolder()
  await (await startGateway({ folder })).crash()
  const { accountId, keyId, requestId } = seed(folder, REQUESTS)
  seedCrowd(folder, accountId)
  const db = new Database(join(folder, 'tollgate.db'))
  rich = makeRich(db)
  db.close()
  stage = await openStage({ folder, yaml: models, env: { TOLLGATE_VIDEO_POLL_MS: '200' }, as: { accountId, key: '' } })
  const { gateway } = stage
  await gateway.operate('code.create', { count: 30, amount: '25.00', note: 'autumn campaign' })
  const { dear } = await enliven(gateway, accountId, rich)
  values = { account: accountId, key: keyId, request: requestId }
  const keys = await gateway.operate<{ id: string }[]>('key.list', { account: rich })
  ofRich = { account: rich, request: dear, key: keys[0]?.id ?? '' }
  hours = hoursOf(folder, accountId)
  for (const { zone, language, name } of walks) {
    const page = await stage.enter(
      { name: name.replace('/', ' '), role: 'operator' },
      { viewport: { width: 1440, height: HEIGHT }, timezoneId: zone, locale: 'en', reducedMotion: 'reduce' },
    )
    const chosen = JSON.stringify({ language, account: accountId, live: false })
    await page.evaluate(`localStorage.setItem('tollgate', ${JSON.stringify(chosen)})`)
    pages.set(name, page)
  }
}, 600_000)
afterAll(async () => {
  await stage.browser.close()
  await stage.gateway.crash()
  rmSync(stage.gateway.folder, { recursive: true, force: true })
}, 30_000)

const pageOf = (walk: string): BrowserPage => {
  const page = pages.get(walk)
  if (!page) throw new Error('nobody is signed in')
  return page
}

/** What people of the rich account see: amounts of every size, and names that are as long as can be. */
const richNames = ['overview', 'keys', 'key-edit', 'usage', 'requests', 'request', 'tasks', 'billing']
const places: readonly (readonly [name: string, place: Place, isRich: boolean])[] = [
  ...[...accountPlaces, ...operatorPlaces].map((place) => [place.name, place, false] as const),
  ...accountPlaces
    .filter(({ name }) => richNames.includes(name))
    .map((place) => [`${place.name}, rich`, place, true] as const),
]

/** The widths that the page at this place of the list has in a zone. Languages take turns, and in English the zones. */
function widthsOf(at: number, zone: string): readonly number[] {
  const [utc, berlin, shanghai] = zones
  const [english, other] = Math.floor((FIRST + at) / 2) % 2 === 0 ? [utc, berlin] : [berlin, utc]
  return WIDTHS.filter((_, i) => {
    const inTurn = (FIRST + at + i) % 2 === 0 ? [english, shanghai, other] : [shanghai, english, other]
    return inTurn.slice(0, ZONES_OF_A_WIDTH).some((one) => one.zone === zone)
  })
}

/** Goes to another page without loading the console again. The page before has to be gone first. */
async function moveTo(page: BrowserPage, address: string, shows: string): Promise<void> {
  const go = (url: string): Promise<unknown> =>
    page.evaluate(`(history.pushState(null, '', ${JSON.stringify(url)}), dispatchEvent(new PopStateEvent('popstate')))`)
  await go(`${stage.url}/nowhere`)
  await page.call('waitForSelector', NOWHERE, { timeout: 30_000 })
  await go(stage.url + address)
  await page.call('waitForSelector', shows, { timeout: 30_000 })
}

const faultsIn = async ({ zone, language, name: walk, turns }: (typeof walks)[number]): Promise<readonly string[]> => {
  const page = pageOf(walk)
  const faults: string[] = []
  let isBack = false
  await page.goto(`${stage.url}/nowhere`)
  for (const [at, [name, place, isRich]] of places.entries()) {
    const widths = turns.some((turn) => at % 2 === turn) ? widthsOf(at, zone) : []
    if (widths.length === 0) continue
    const shows = language === 'en' ? place.shows : place.shows.replace(/text=\w+/, 'dl')
    await moveTo(page, addressOf(place, isRich ? ofRich : values), shows)
    // There and back: a page begins at the width at which the one before it ended.
    for (const width of isBack ? widths.toReversed() : widths) {
      await page.call('setViewportSize', { width, height: HEIGHT })
      await page.evaluate(SETTLED)
      const found = await page.evaluate<readonly string[]>(LAYOUT_FAULTS)
      faults.push(...found.map((fault) => `${zone}, ${width}, ${name}: ${fault}`))
    }
    isBack = !isBack
  }
  return faults
}

// All walks at once: a page waits for its next frame most of the time.
test.concurrent.each([...walks])(
  'every page is laid out at every width in $name',
  async (walk) => {
    expect(await faultsIn(walk)).toEqual([])
  },
  300_000,
)

/** Requests and charges of each day of a zone, by the zone's own calendar. */
function daysOf(zone: string): ReadonlyMap<string, { requests: number; charged: bigint }> {
  const date = new Intl.DateTimeFormat('en-CA', { timeZone: zone })
  const days = new Map<string, { requests: number; charged: bigint }>()
  for (const { hourMs, requests, charged } of hours) {
    const day = date.format(hourMs)
    const before = days.get(day) ?? { requests: 0, charged: 0n }
    days.set(day, { requests: before.requests + requests, charged: before.charged + charged })
  }
  return days
}

/** As the console writes a day. */
const written = (day: string, language: string): string =>
  new Intl.DateTimeFormat(language, { timeZone: 'UTC', year: 'numeric', month: 'short', day: 'numeric' }).format(
    new Date(`${day}T00:00:00Z`),
  )
const nanoOf = (text: string): bigint =>
  BigInt(
    text
      .replaceAll(/[$,]/g, '')
      .replace('−', '-')
      .replace(/\.(\d+)$/, (_, end: string) => end.padEnd(9, '0')),
  )
const wholeOf = (text: string): number => Number(text.replaceAll(',', ''))

describe.each([...zones])('in $zone', ({ zone, language }) => {
  type Row = readonly [string, ...string[]]
  const rowsOf = (page: BrowserPage, rows: string, cell: string): Promise<readonly Row[]> =>
    page.evaluate(`[...document.querySelectorAll('${rows}')].map((row) => [...row.children].map((cell) => ${cell}))`)

  test.each([
    ['usage', '/usage?range=30d&step=day&measure=requests', 1],
    ['overview', '/overview?range=30d', 2],
  ])(
    'each day of %s has the requests of that day there',
    async (_, path, nth) => {
      const page = pageOf(zone)
      await page.goto(`${stage.url}/a/${values['account']}${path}`)
      const chart = `main figure:nth-of-type(1)`
      await page.appears(chart)
      const at = nth === 1 ? 'main figure' : 'main .grid > div:nth-child(2) figure'
      const rows = await rowsOf(page, `${at} table tbody tr`, 'cell.textContent')
      const shown = rows.map(([day, ...counts]) => [day, counts.reduce((sum, count) => sum + wholeOf(count), 0)])
      const days = [...daysOf(zone)].toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(-30)
      expect(shown).toEqual(days.map(([day, { requests }]) => [written(day, language), requests]))
    },
    60_000,
  )

  test('the total of usage is that of its days, and the file has the dates of here', async () => {
    const page = pageOf(zone)
    await page.goto(`${stage.url}/a/${values['account']}/usage?range=30d&step=day`)
    await page.appears('tfoot')
    const total = await page.evaluate<string>(`document.querySelector('tfoot td:last-child span').title`)
    const days = [...daysOf(zone)].toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(-30)
    expect(nanoOf(total)).toBe(days.reduce((sum, [, { charged }]) => sum + charged, 0n))
    const file = await page.evaluate<string>(
      `fetch(document.querySelector('a[download]').href).then((answer) => answer.text())`,
    )
    const dates = new Set(
      file
        .trim()
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(',')[1]),
    )
    expect([...dates]).toEqual(days.map(([day]) => day))
  }, 60_000)

  test('a statement has the days of the ledger, which are those of UTC, and says so', async () => {
    const page = pageOf(zone)
    const month = new Date().toISOString().slice(0, 7)
    await page.goto(`${stage.url}/a/${values['account']}/billing`)
    await page.appears('table')
    const rows = await rowsOf(
      page,
      'main tbody tr',
      `cell.querySelector('time')?.lastChild.textContent ?? cell.querySelector('[title]')?.title ?? cell.textContent`,
    )
    expect(await page.text('main th >> nth=0')).toContain('UTC')
    const charged = new Map<string, bigint>()
    for (const row of rows) {
      const [day, amount] = [row[0], row[4] ?? '']
      const isDay = !day.includes(':')
      if (isDay) charged.set(day, (charged.get(day) ?? 0n) - nanoOf(amount))
    }
    const days = [...daysOf('UTC')].filter(([day, sums]) => day.startsWith(month) && sums.charged > 0n)
    expect(Object.fromEntries(charged)).toEqual(
      Object.fromEntries(days.map(([day, sums]) => [written(day, language), sums.charged])),
    )
  }, 60_000)

  test('every page is reached from where one is, on a phone and at a desk', async () => {
    const page = pageOf(zone)
    const links = 'nav a[href*="/a/"], nav a[href*="/operator/"]'
    const found: string[][] = []
    for (const width of [360, 1440]) {
      await page.call('setViewportSize', { width, height: HEIGHT })
      await page.goto(`${stage.url}/a/${values['account']}/overview`)
      await page.appears('figure')
      if (width === 360) await page.click('button.lg\\:hidden')
      await page.appears(width === 360 ? 'role=dialog >> nav' : 'nav a')
      found.push(
        await page.evaluate(
          `[...document.querySelectorAll('${links}')].filter((link) => link.checkVisibility()).map((link) => new URL(link.href).pathname.replace('/console', ''))`,
        ),
      )
    }
    const pages = [...accountPlaces, ...operatorPlaces].map((place) => addressOf(place, values).split('?')[0] ?? '')
    const own = (paths: readonly string[]): string[] =>
      [...new Set(paths)].filter((path) => /^\/(?:a\/[^/]+|operator)\/[a-z]+$/.test(path)).toSorted()
    for (const paths of found) expect(own(paths)).toEqual(own(pages))
  }, 60_000)
})

test('what is counted as a fault is one', async () => {
  const page = stage.browser.open({ viewport: { width: 1400, height: 600 } })
  const faultsOf = async (html: string): Promise<readonly string[]> => {
    await page.goto(
      `data:text/html,${encodeURIComponent(`<!doctype html><body style="font:16px/1.5 sans-serif;margin:0">${html}`)}`,
    )
    return page.evaluate<readonly string[]>(LAYOUT_FAULTS)
  }
  const row = (style: string): string =>
    `<div role="row" style="position:relative;height:32px;width:400px;${style}"><span>13:42:04</span><span>$0.120000</span></div>`
  const faults: readonly (readonly [string, RegExp])[] = [
    ['<div style="width:1500px">wide</div>', /100 px too wide/],
    ['<p style="margin:0">one</p><p style="margin:-24px 0 0">other</p>', /one over the other: one \| other/],
    [
      '<div style="width:40px;overflow:hidden;white-space:nowrap">much too long</div>',
      /cut off without a title: much too long/,
    ],
    ['<div style="height:12px;overflow:hidden">one<br>two</div>', /cut off in its height/],
    [row('display:grid;grid-template-columns:400px'), /a cell outside its row: \$0\.120000/],
    ['<div style="width:60px">−$1,000 000.12</div>', /^$/],
    ['<div style="width:20px"><span style="overflow-wrap:anywhere">$1,000.12</span></div>', /an amount in two lines/],
    [
      '<div role="region" aria-label="list" style="width:300px;overflow-x:auto"><table><td style="min-width:400px">x',
      /lacks \d+ px: list/,
    ],
    ['<input style="width:40px" placeholder="Cost from $">', /a field too narrow for: Cost from/],
  ]
  for (const [html, fault] of faults) expect(`${(await faultsOf(html)).join('; ')}`).toMatch(fault)
  const right = [
    row('display:flex;gap:8px'),
    '<div title="all of it" style="width:40px;overflow:hidden;white-space:nowrap;text-overflow:ellipsis">much too long</div>',
    '<div style="position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)">for readers of screens</div>',
    '<div style="height:100px;overflow:auto"><div style="height:400px">more</div></div>',
  ]
  for (const html of right) expect(await faultsOf(html)).toEqual([])
  await page.close()
}, 60_000)

test('widths at which the layout changes are in one unit: rules for rem and px do not sort', () => {
  const folder = resolve(import.meta.dir, '../../web/dist/assets')
  const styles = readdirSync(folder).filter((name) => name.endsWith('.css'))
  const widths = styles.flatMap((name) => [
    ...readFileSync(join(folder, name), 'utf8').matchAll(/@media[^{]*?width\s*[<>]?[=:]\s*[\d.]+([a-z]+)/g),
  ])
  expect(widths.length).toBeGreaterThan(5)
  expect([...new Set(widths.map(([, unit]) => unit))]).toEqual(['rem'])
})
