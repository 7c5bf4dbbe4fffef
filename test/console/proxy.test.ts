/** The console below a path, behind a proxy that strips the path, and the cache headers of its files. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { freePort } from '../../bench/contender.ts'
import { expectQuiet, openStage, type ConsoleStage } from '../support/console-browser.ts'

let stage: ConsoleStage
let proxy: Bun.Server<undefined>
let outside: string
let inside: string

beforeAll(async () => {
  const [inner, outer] = [await freePort(), await freePort()]
  outside = `http://127.0.0.1:${outer}/x/y`
  inside = `http://127.0.0.1:${inner}`
  proxy = Bun.serve({
    port: outer,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (!pathname.startsWith('/x/y/')) return new Response('not here', { status: 404 })
      const { method, headers } = request
      const body = method === 'GET' || method === 'HEAD' ? null : await request.text()
      const target = inside + pathname.slice('/x/y'.length) + search
      return fetch(target, { method, headers, body, redirect: 'manual', decompress: false })
    },
  })
  stage = await openStage({ env: { PORT: String(inner), TOLLGATE_PUBLIC_URL: outside } })
}, 90_000)
afterAll(async () => {
  await proxy.stop(true)
  await stage.close()
}, 30_000)

test('pages, files and questions stay below the path', async () => {
  const page = stage.browser.open({ viewport: { width: 1280, height: 800 } })
  const link = new URL(await stage.invite({ name: 'kim', role: 'owner' }))
  await page.goto(outside + link.pathname + link.hash)
  await page.fill('role=textbox[name="New password"]', 'correct horse battery')
  await page.fill('role=textbox[name="Confirm password"]', 'correct horse battery')
  await page.click('role=button[name="Save and sign in"]')
  await page.appears('figure')
  expect(await page.evaluate<string>('location.pathname')).toMatch(/^\/x\/y\/console\/a\/acct_\w+\/overview$/)
  await page.click('role=link[name="Keys"]')
  await page.click('role=button[name="Create key"]')
  await page.fill('role=dialog >> role=textbox[name="Name"]', 'below')
  await page.click('role=dialog >> role=button[name="Create key"]')
  await page.appears('role=dialog >> pre')
  expect(await page.text('role=dialog >> pre')).toContain(`curl ${outside}/v1/chat/completions`)
  await page.click('role=button[name="Send a test request"]')
  await page.appears('text=Verified')
  await page.call('reload')
  // What is open is in the address: it is open again, without the secret.
  await page.appears('role=dialog >> role=textbox[name="Name"]')
  const strays = `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => !name.startsWith('${outside}/'))`
  expect(await page.evaluate<string[]>(strays)).toEqual([])
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('a page is never kept, a file with a digest in its name always, and nothing else is there', async () => {
  const page = await fetch(`${inside}/console/a/acct_1/keys`)
  const html = await page.text()
  expect(page.headers.get('cache-control')).toBe('no-store')
  const [, nonce = ''] = /nonce="(\w+)"/.exec(html) ?? []
  expect(page.headers.get('content-security-policy')).toContain(`script-src 'self' 'nonce-${nonce}'`)
  expect(nonce).toHaveLength(43)
  expect(html).toContain('<base href="/x/y/console/" />')
  const [, script = ''] = /src="\.\/(assets\/[^"]+\.js)"/.exec(html) ?? []
  const file = await fetch(`${inside}/console/${script}`, { headers: { 'accept-encoding': 'gzip' } })
  expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(file.headers.get('content-encoding')).toBe('gzip')
  expect(file.headers.get('x-content-type-options')).toBe('nosniff')
  for (const name of ['assets/none.js', 'assets/../manifest.json', 'assets/%2e%2e/%2e%2e/package.json']) {
    const answer = await fetch(`${inside}/console/${name}`)
    expect(await answer.text()).not.toContain('"version"')
  }
  expect((await fetch(`${inside}/console`, { redirect: 'manual' })).headers.get('location')).toBe('console/')
  expect((await fetch(`${inside}/console/`, { method: 'POST' })).status).toBe(405)
  expect((await fetch(`${inside}/consolex`)).status).toBe(404)
})
