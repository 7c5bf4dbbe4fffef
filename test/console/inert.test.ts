/**
 * Pages show every name as text. Names that would be scripts, links, formulas or templates elsewhere are entered by
 * their owners, and then every page is checked.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserPage } from '../support/browser.ts'
import { openStage, PASSWORD, type ConsoleStage } from '../support/console-browser.ts'
import { accountPlaces, addressOf, operatorPlaces, type Place } from '../support/console-places.ts'
import { rawClient } from '../support/raw-client.ts'
import { countOf, seedOfRun } from '../support/soaks.ts'

/** Where a script that runs, or a picture that is asked for, would be noticed. */
const STAIN = 'window.stained=1'
const payloads = [
  `<img src=x onerror="${STAIN}">`,
  `"><svg onload=${STAIN}>`,
  `'-(${STAIN})-'`,
  '${7*7}{{7*7}}<%= 7*7 %>#{7*7}',
  `=HYPERLINK("http:evil.example","x")`,
  '@SUM(1)+cmd',
  `${'W'.repeat(96)}`,
] as const
/** Names have no slash in them: these go where texts go. */
const texts = [
  '\u202Egnp.exe\u2066\u202Aevil',
  ...payloads,
  `<script>${STAIN}</script>`,
  `javascript:${STAIN}//`,
  '+1\t=1',
  'line\nbreak </td></tr></table>',
]

/** Ids of models have letters and a few signs alone; what vendors call theirs is anything. */
const models: Readonly<Record<string, string>> = {
  'javascript:alert@x//..': payloads[0],
  constructor: payloads[1],
  ['W'.repeat(96)]: texts.at(-1) ?? '',
  '__proto__.x': '${7*7}',
  refuse: 'refuse',
}
const oddModel = 'javascript:alert@x//..'

let stage: ConsoleStage
let vendor: Bun.Server<undefined>
const pages = new Map<string, BrowserPage>()
let values: Readonly<Record<string, string>>
let operator: { readonly cookie: string; readonly 'content-type': string }

async function call<T = Record<string, unknown>>(request: string, body?: object): Promise<T> {
  const [method = '', path = ''] = request.split(' ')
  const response = await fetch(`${new URL(stage.url).origin}/admin/v1${path}`, {
    method,
    headers: operator,
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const told = await response.text()
  if (response.status !== 200) throw new Error(`${request}: ${response.status} ${told}`)
  return (response.headers.get('content-type')?.includes('json') ? JSON.parse(told) : told) as T
}

function streamOf(content: string): string {
  const chunk = (choice: object, more: object = {}): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice], ...more })}\n\n`
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
  const end = chunk({ index: 0, delta: {}, finish_reason: 'stop' }, { usage })
  return `${chunk({ index: 0, delta: { role: 'assistant', content } })}${end}data: [DONE]\n\n`
}

/** A vendor that answers with mark-up, in errors and in what its models say. */
function startVendor(): Bun.Server<undefined> {
  const all = texts.join(' ')
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'GET') return Response.json({ data: texts.map((id) => ({ id, object: 'model' })) })
      const { model, stream } = (await request.json()) as { model: string; stream?: boolean }
      if (model.includes('refuse')) {
        return Response.json({ error: { message: all, type: all, code: 'img_onerror', param: all } }, { status: 400 })
      }
      const message = { role: 'assistant', content: all }
      if (stream) return new Response(streamOf(all), { headers: { 'content-type': 'text/event-stream' } })
      const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
      return Response.json({ id: all, model: all, choices: [{ index: 0, message, finish_reason: all }], usage })
    },
  })
}

/** Everything that people may name, named so. */
async function place(): Promise<void> {
  const { accountId, baseUrl } = stage.gateway
  const at = `/accounts/${accountId}`
  const price = { input: '1000000', output: '1000000' }
  const url = `http://127.0.0.1:${vendor.port}/v1`
  await call('POST /providers', { id: 'odd', preset: 'custom', base_url: url, allow_private: true, key: 'k' })
  for (const [id, model] of Object.entries(models)) {
    await call('POST /models', { id, owned_by: payloads[0], price, offers: [{ provider: 'odd', model }] })
  }
  for (const [i, model] of payloads.entries()) {
    await call(`POST ${at}/keys`, { name: model, models: Object.keys(models) })
    await call(`POST ${at}/management-keys`, { name: model })
    await call('POST /accounts', { name: model })
    await call(`POST ${at}/users`, { name: `${i}${model}`.slice(0, 100), role: 'member' })
    await call('POST /users', { name: `o${i}${model}`.slice(0, 100), role: 'operator' })
  }
  for (const text of texts) {
    await call('POST /codes', { count: 1, amount_nano_usd: '1', note: text })
    const reason = { kind: 'credit', amount_nano_usd: '1', reason: text, ref: text }
    await call(`POST ${at}/adjustments`, reason)
  }
  const { secret } = await call<{ secret: string }>(`POST ${at}/keys`, { name: payloads[0] })
  for (const model of [...Object.keys(models), payloads[0]]) {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model, user: payloads[0], messages: [{ role: 'user', content: texts.join(' ') }] })
    await (await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body })).text()
  }
  // A browser that is called so, and an address that claims to be.
  const agent = await rawClient(Number(new URL(baseUrl).port))
  const body = JSON.stringify({ name: 'op', password: PASSWORD })
  agent.send(
    `POST /admin/v1/session HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nuser-agent: ${payloads[0]}\r\n` +
      `x-forwarded-for: ${payloads[0]}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  )
  expect(await agent.ended()).toStartWith('HTTP/1.1 200')
  agent.close()
}

async function enter(name: string, scheme: object): Promise<BrowserPage> {
  return stage.enter({ name, role: 'operator' }, { ...scheme, reducedMotion: 'reduce', acceptDownloads: false })
}

beforeAll(async () => {
  vendor = startVendor()
  stage = await openStage()
  const link = await stage.invite({ name: 'op', role: 'operator' })
  const redeemed = await fetch(new URL('/admin/v1/links/redeem', stage.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: link.split('#')[1], password: PASSWORD }),
  })
  const cookie = (redeemed.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  operator = { cookie, 'content-type': 'application/json' }
  await place()
  const { accountId } = stage.gateway
  type List = { data: { id: string; outcome?: string }[] }
  const requests = (await call<List>(`GET /accounts/${accountId}/requests?limit=200`)).data
  const keys = (await call<List>(`GET /accounts/${accountId}/keys`)).data
  const failed = requests.find(({ outcome }) => outcome === 'failed')
  values = { account: accountId, request: (failed ?? requests[0])?.id ?? '', key: keys[1]?.id ?? '' }
  expect(requests.length).toBeGreaterThan(3)
  pages.set('wide', await enter('wide', { viewport: { width: 1280, height: 900 } }))
  pages.set('narrow', await enter('narrow', { viewport: { width: 380, height: 800 } }))
}, 120_000)
afterAll(async () => {
  await stage.close()
  await vendor.stop(true)
}, 30_000)

/** From now on, in this page: what the policy refuses. To be asked for before anything of the page's has run is not
 * possible from here, but what it refused by then was also written as an error, see `problems`. */
const WATCH = `window.refusals = []; document.addEventListener('securitypolicyviolation',
  ({ effectiveDirective, blockedURI }) => window.refusals.push(effectiveDirective + ' ' + blockedURI)); undefined`
const FACTS = `(() => {
  const origin = location.origin
  const all = [...document.querySelectorAll('*')]
  return {
    stained: window.stained ?? null,
    refusals: window.refusals,
    handlers: all.flatMap((el) => el.getAttributeNames().filter((name) => name.startsWith('on'))),
    strange: all.filter((el) => /^(?:IFRAME|OBJECT|EMBED|BASE)$/.test(el.tagName) && !el.closest('head')).map((el) => el.tagName),
    links: all.flatMap((el) => ['href', 'src', 'action', 'formaction'].map((name) => el.getAttribute(name) ?? ''))
      .filter((value) => /^\\s*(?:javascript|vbscript|data:text\\/html)/i.test(value)),
    scripts: [...document.scripts].filter((script) => !script.nonce && !script.src.startsWith(origin)).length,
    elsewhere: performance.getEntriesByType('resource').map(({ name }) => name)
      .filter((name) => !name.startsWith(origin) && !/^(?:data|blob):/.test(name)),
    wide: document.documentElement.scrollWidth - innerWidth,
  }
})()`
const CLEAN = {
  stained: null,
  refusals: [],
  handlers: [],
  strange: [],
  links: [],
  scripts: 0,
  elsewhere: [],
}

async function expectInert(page: BrowserPage): Promise<void> {
  const { wide, ...facts } = await page.evaluate<typeof CLEAN & { wide: number }>(FACTS)
  expect(facts).toEqual(CLEAN)
  expect(wide).toBeLessThanOrEqual(0)
  const problems = await page.problems()
  expect(problems.filter((problem) => !/status of 4\d\d/.test(problem))).toEqual([])
}

const more = [
  {
    name: 'requests of a model',
    path: `/a/{account}/requests?model=${encodeURIComponent(oddModel)}`,
    shows: 'main section',
  },
  { name: 'a search', path: `/operator/accounts?q=${encodeURIComponent(payloads[0])}`, shows: 'main section' },
  { name: 'an audit search', path: `/operator/audit?q=${encodeURIComponent(payloads[1])}`, shows: 'main section' },
  {
    name: 'a model',
    path: `/operator/models?open=${encodeURIComponent(oddModel)}`,
    shows: 'role=dialog >> role=heading',
  },
  {
    name: 'a model to buy',
    path: `/a/{account}/models?model=${encodeURIComponent(oddModel)}`,
    shows: 'role=dialog >> role=heading',
  },
  { name: 'the vendor', path: '/operator/providers?open=odd', shows: 'role=dialog >> role=heading' },
  { name: 'the tail of a path', path: `/a/{account}/requests/${encodeURIComponent(payloads[1])}`, shows: 'main' },
]

/** The short form has every page in one of the two widths, which a seed chooses. The long form has it in both. */
const IS_LONG = countOf('inert-widths') > 1
const FIRST = seedOfRun()
const placesIn = (width: string): readonly Place[] =>
  [...accountPlaces, ...operatorPlaces, ...more].filter(
    (_, at) => IS_LONG || (FIRST + at) % 2 === (width === 'wide' ? 0 : 1),
  )

describe.each(['wide', 'narrow'])('%s', (width) => {
  test.each(placesIn(width).map((place) => [place.name, place] as const))(
    '%s',
    async (_, place) => {
      const page = pages.get(width)
      if (!page) throw new Error('nobody is signed in')
      await page.goto(stage.url + addressOf(place, values))
      await page.evaluate(WATCH)
      await page.appears(place.shows)
      await expectInert(page)
    },
    60_000,
  )
})

test('what a vendor says is there, as text', async () => {
  const page = pages.get('wide')
  if (!page) throw new Error('nobody is signed in')
  await page.goto(`${stage.url}/operator/models?open=${encodeURIComponent(oddModel)}`)
  await page.appears(`role=dialog >> text=${JSON.stringify(payloads[0])}`)
  await page.goto(`${stage.url}/a/${values['account']}/playground`)
  await page.appears('textarea')
  await page.evaluate(WATCH)
  await page.click('role=combobox[name="Model"]')
  await page.click(`role=option[name=${JSON.stringify(oddModel)}]`)
  await page.fill('role=textbox[name="Message"]', texts.join(' '))
  await page.click('role=button[name="Send"]')
  await page.appears('text=/in, \\d+ out/')
  await expectInert(page)
  await page.click('role=button[name="As code"]')
  await page.appears('role=dialog >> pre')
  await expectInert(page)
}, 60_000)

test('the way back after signing in leads nowhere else', async () => {
  for (const next of [
    `javascript:${STAIN}`,
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/%09/evil.example',
  ]) {
    const page = stage.browser.open()
    await page.goto(`${stage.url}/sign-in?next=${encodeURIComponent(next)}`)
    await page.fill('role=textbox[name="Name"]', 'op')
    await page.fill('role=textbox[name="Password"]', PASSWORD)
    await page.click('role=button[name="Sign in"]')
    await page.appears('main h1 >> nth=0')
    await Bun.sleep(200)
    const where = await page.evaluate<string>('location.origin + "|" + (window.stained ?? "")')
    expect(where).toBe(`${new URL(stage.url).origin}|`)
    await page.close()
  }
}, 60_000)

test('no frame, window or form of elsewhere gets hold of a page', async () => {
  const answer = await fetch(`${stage.url}/`)
  const policy = answer.headers.get('content-security-policy') ?? ''
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'self'", "form-action 'self'"]) {
    expect(policy).toContain(part)
  }
  expect(policy).not.toMatch(/unsafe|\*|https?:|data: 'self'/)
  const page = pages.get('wide')
  const blocked = await page?.evaluate<boolean>(
    `new Promise((done) => { const el = document.createElement('div'); let isHeld = false
      try { el.innerHTML = '<img src=x onerror="window.stained=2">' } catch { isHeld = true }
      document.body.append(el); setTimeout(() => done(isHeld && window.stained !== 2), 200) })`,
  )
  expect(blocked).toBe(true)
  // And whoever looks at every page above would have seen it.
  await page?.evaluate(`${WATCH}; void (new Image().src = 'http://127.0.0.1:9/seen')`)
  await Bun.sleep(200)
  expect(await page?.evaluate<string[]>('window.refusals')).toContain('img-src http://127.0.0.1:9/seen')
})

test('a file of all this has no formula in it', async () => {
  const { accountId } = stage.gateway
  for (const path of ['ledger?format=csv', 'usage?by=key&format=csv', 'usage?by=model&step=hour&format=csv']) {
    const file = await call<string>(`GET /accounts/${accountId}/${path}`)
    expect(file.length).toBeGreaterThan(100)
    const cells = [...file.matchAll(/(?:^|,|\r\n)(?:"((?:[^"]|"")*)"|([^,\r\n]*))/g)].map(
      ([, quoted, bare]) => quoted ?? bare ?? '',
    )
    const formulas = cells.filter((cell) => /^\s*[=+\-@]/.test(cell) && !/^-?\d+$/.test(cell))
    expect({ path, formulas }).toEqual({ path, formulas: [] })
  }
})
