import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerExchange } from '../inbound/exchange.ts'
import { Pages } from './pages.ts'

let folder: string

beforeAll(() => {
  folder = `${mkdtempSync(join(tmpdir(), 'tollgate-pages-'))}/`
  mkdirSync(join(folder, 'assets'))
  writeFileSync(
    join(folder, 'index.html'),
    '<base href="/" /><meta name="operator" content="known" /><script nonce="NONCE"></script>',
  )
  writeFileSync(join(folder, 'assets/app-abc.js'), 'console.log(1)')
  writeFileSync(join(folder, 'manifest.json'), '{}')
})
afterAll(() => rmSync(folder, { recursive: true }))

type Answer = { readonly status: number; readonly headers: Record<string, string>; readonly body: string }

async function ask(pages: Pages, path: string, { method = 'GET', zipped = false } = {}): Promise<Answer> {
  let answer: Answer | undefined
  const exchange = {
    head: { method, path },
    header: () => (zipped ? 'br, gzip' : undefined),
    isGone: false,
    reply(status: number, headers: Record<string, string>, body: string | Uint8Array) {
      answer = { status, headers, body: typeof body === 'string' ? body : Buffer.from(body).toString('latin1') }
    },
  } as unknown as ServerExchange
  await pages.answer(exchange)
  if (!answer) throw new Error('no answer')
  return answer
}

let hasOperator = true
const open = (publicUrl?: string): Pages =>
  new Pages(
    { publicUrl, isSecure: publicUrl !== undefined, publicModels: 'shown', hasOperator: () => hasOperator },
    folder,
  )

test('every page is the one page, below the path of the public address, with a nonce of its own', async () => {
  const pages = open('https://models.example/a"b/')
  const [one, other] = [await ask(pages, '/console/keys'), await ask(pages, '/console/')]
  expect(one.body).toContain('<base href="/a%22b/console/" />')
  const nonceOf = ({ body }: Answer): string => /nonce="(\w+)"/.exec(body)?.[1] ?? ''
  expect(nonceOf(one)).not.toBe(nonceOf(other))
  expect(one.headers['content-security-policy']).toContain(`'nonce-${nonceOf(one)}'`)
  expect(one.headers['strict-transport-security']).toBeDefined()
  expect((await ask(open(), '/console/keys')).body).toContain('<base href="/console/" />')
})

test('only built files are served', async () => {
  const pages = open()
  expect(await ask(pages, '/console/assets/app-abc.js')).toMatchObject({ status: 200, body: 'console.log(1)' })
  const zipped = await ask(pages, '/console/assets/app-abc.js', { zipped: true })
  const text = new TextDecoder().decode(Bun.gunzipSync(Buffer.from(zipped.body, 'latin1')))
  expect(text).toBe('console.log(1)')
  expect((await ask(pages, '/console/assets/gone-def.js')).status).toBe(404)
  for (const name of ['manifest.json', '../package.json', 'assets/../index.html']) {
    const { headers } = await ask(pages, `/console/${name}`)
    expect(headers['content-type']).not.toContain('json')
  }
})

test('a missing build and a wrong method are reported', async () => {
  const empty = new Pages(
    { publicUrl: undefined, isSecure: false, publicModels: 'hidden', hasOperator: () => true },
    join(folder, 'nowhere/'),
  )
  expect((await ask(empty, '/console/')).status).toBe(503)
  expect((await ask(open(), '/console/', { method: 'POST' })).status).toBe(405)
  expect((await ask(open(), '/console')).headers['location']).toBe('console/')
})

test('a page says whether there is an operator yet', async () => {
  expect((await ask(open(), '/console/')).body).toContain('name="operator" content="known"')
  hasOperator = false
  expect((await ask(open(), '/console/sign-in')).body).toContain('name="operator" content="missing"')
  hasOperator = true
})
