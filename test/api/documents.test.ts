/** The API documents: every route is described, every example works, and every answer matches its description. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { documentedRoutes, publicOpenApi } from '../../src/edge/openapi.ts'
import { answerShapes, failureShapes } from '../../src/edge/public-answers.ts'
import type { PublicRoute } from '../../src/edge/route.ts'
import { publicRoutes } from '../../src/edge/routes.ts'
import { failureCodes } from '../../src/formats/core/openai-failure.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { photo } from '../support/test-pictures.ts'

let gateway: TestGateway
let origin: string
let responseId = ''
let videoId = ''

beforeAll(async () => {
  gateway = await startGateway()
  origin = new URL(gateway.baseUrl).origin
  const body = JSON.stringify({ model: 'sandbox-chat', input: 'Hi', background: true })
  const made = await fetch(`${origin}/v1/responses`, { method: 'POST', headers: headers(), body })
  responseId = ((await made.json()) as { id: string }).id
  const film = JSON.stringify({ model: 'sandbox-video-fast', content: [{ type: 'text', text: 'x' }], duration: 4 })
  const begun = await fetch(`${origin}/v1/videos`, { method: 'POST', headers: headers(), body: film })
  videoId = ((await begun.json()) as { id: string }).id
})
afterAll(() => gateway.close())

const headers = (): Record<string, string> => ({
  authorization: `Bearer ${gateway.key}`,
  'content-type': 'application/json',
})

/** The address with ids that are there. */
const addressOf = ({ path, documentation: { query, model = 'sandbox-chat' } }: PublicRoute): string =>
  origin +
  path.replace('{model}', model).replace('/responses/{id}', `/responses/${responseId}`).replace('{id}', videoId) +
  (query ? `?${new URLSearchParams(query).toString()}` : '')

/** A task that has not ended is not deleted: that is test/video/tasks.test.ts. */
const isLater = ({ method, path }: PublicRoute): boolean => method === 'DELETE' && path.startsWith('/v1/videos/')
const whole = documentedRoutes.filter(
  (each) => each.documentation.answer !== 'file' && each.reads.kind !== 'form' && !isLater(each),
)

describe.each(whole.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
  test('the example works, and its answer is as described', async () => {
    const { request, answer: wanted } = route.documentation
    expect(request === undefined).toBe(route.reads.kind === 'none')
    const example = request && 'example' in request ? request : undefined
    const body = example && JSON.stringify(example.example)
    if (example) expect((await example.schema()).safeParse(example.example).success).toBe(true)
    const { method } = route
    const answer = await fetch(addressOf(route), { method, headers: headers(), ...(body ? { body } : {}) })
    if (wanted === 'events') return expect(answer.headers.get('content-type')).toContain('text/event-stream')
    if (typeof wanted === 'object') return expect(wanted.bytes).toContain(answer.headers.get('content-type') ?? '')
    const value: unknown = await answer.json()
    expect({ status: answer.status, value }).toMatchObject({ status: 200 })
    if (wanted === 'file' || wanted === 'text') return expect.unreachable()
    const checked = answerShapes[wanted].safeParse(value)
    expect({ problem: checked.error?.message, value }).toMatchObject({ problem: undefined })
  })
})

test('an edit, as a form', async () => {
  const form = new FormData()
  form.set('model', 'sandbox-image')
  form.set('prompt', 'at night')
  form.set('image', new Blob([new Uint8Array(photo(64, 64))], { type: 'image/png' }), 'a.png')
  const { authorization = '' } = headers()
  const answer = await fetch(`${origin}/v1/images/edits`, { method: 'POST', headers: { authorization }, body: form })
  expect(answer.status).toBe(200)
  const route = documentedRoutes.find(({ path }) => path === '/v1/images/edits') ?? expect.unreachable()
  expect(route.documentation.answer).toBe('Images')
  expect(answerShapes.Images.safeParse(await answer.json()).success).toBe(true)
})

const openApi = JSON.stringify(await publicOpenApi('0'))

describe('a refusal is in the envelope of the path', () => {
  const envelopes = { chat: 'Error', messages: 'MessagesError', gemini: 'GeminiError' } as const
  type Paths = Readonly<Record<string, Readonly<Record<string, { responses: { default: object } }>>>>
  const { paths } = JSON.parse(openApi) as { paths: Paths }
  const dialectOf = (path: string): keyof typeof envelopes => {
    if (/^\/v1\/messages(?:\/|$)/.test(path)) return 'messages'
    return path.startsWith('/v1beta') || /:(?:stream)?[gG]enerateContent$/.test(path) ? 'gemini' : 'chat'
  }
  const expectEnvelope = async (path: string, answer: Response): Promise<void> => {
    const value: unknown = await answer.json()
    const { error } = failureShapes[dialectOf(path)].safeParse(value)
    expect({ path, status: answer.status, problem: error?.message, value }).toMatchObject({ problem: undefined })
    expect(answer.headers.has('request-id')).toBe(dialectOf(path) === 'messages')
  }

  test.each(
    documentedRoutes
      .filter(({ limits }) => limits !== 'files')
      .map((route) => [`${route.method} ${route.path}`, route]),
  )('%s', async (_, route) => {
    const { path } = route
    const { default: refused } = paths[path]?.[route.method.toLowerCase()]?.responses ?? expect.unreachable()
    expect(JSON.stringify(refused)).toContain(`"#/components/schemas/${envelopes[dialectOf(path)]}"`)
    const { method } = route
    const noKey = await fetch(addressOf(route), { method, ...(method === 'POST' ? { body: '{}' } : {}) })
    expect(noKey.status).toBe(401)
    await expectEnvelope(path, noKey)
    const wrongMethod = await fetch(addressOf(route), { method: 'PUT', headers: headers(), body: '{}' })
    expect(wrongMethod.status).toBe(405)
    await expectEnvelope(path, wrongMethod)
    if (route.reads.kind === 'none') return
    const notJson = { ...headers(), 'content-type': 'text/plain' }
    const wrongType = await fetch(addressOf(route), { method, headers: notJson, body: '{' })
    expect([400, 415]).toContain(wrongType.status)
    await expectEnvelope(path, wrongType)
  })

  test.each([
    ['GET', '/v1/messages/batches'],
    ['POST', '/v1/messages/batches'],
    ['DELETE', '/v1/messages/'],
    ['GET', '/v1beta'],
    ['POST', '/v1beta/models/sandbox-chat:predict'],
    ['GET', '/v1beta/files'],
    ['GET', '/v1/models/sandbox-chat:generateContent'],
    ['POST', '/v1/files'],
    ['POST', '/v1/messagesx'],
    ['POST', '/nope'],
  ])('%s %s, which is no route', async (method, path) => {
    const answer = await fetch(origin + path, {
      method,
      headers: headers(),
      ...(method === 'POST' ? { body: '{}' } : {}),
    })
    expect([404, 405]).toContain(answer.status)
    await expectEnvelope(path, answer)
  })
})

test('every route of the API is described', () => {
  const { paths } = JSON.parse(openApi) as { paths: Record<string, Record<string, unknown>> }
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const ofApi = publicRoutes.filter(({ path }) => path.startsWith('/v1'))
  expect(described.toSorted()).toEqual(ofApi.map(({ method, path }) => `${method} ${path}`).toSorted())
  // No path of the API stands elsewhere in the code than in the table.
  const known = new Set(publicRoutes.flatMap(({ path, aliases = [] }) => [path, ...aliases]))
  const folder = join(import.meta.dir, '../../src/edge')
  const files = [...new Bun.Glob('**/*.ts').scanSync(folder)].filter((file) => !file.endsWith('.test.ts'))
  const found = files.flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/'(\/v1[a-z]*\/[^'\n]*[^'/\n])'/g)].map(
      ([, path = '']) => path,
    ),
  )
  expect(found.length).toBeGreaterThan(10)
  expect(found.filter((path) => !known.has(path))).toEqual([])
})

describe('the documents', () => {
  test('are one OpenAPI document, a page and a summary, without anything of another host', async () => {
    const served = await fetch(`${origin}/openapi.json`)
    const document = (await served.json()) as { openapi: string; info: { version: string } }
    expect(document).toEqual(JSON.parse(JSON.stringify(await publicOpenApi(document.info.version))) as typeof document)
    expect(document.openapi).toBe('3.1.0')
    const page = await fetch(`${origin}/docs`)
    const html = await page.text()
    // Its links are relative: with a slash behind it they would lead elsewhere.
    expect((await fetch(`${origin}/docs/`)).url).toBe(`${origin}/docs`)
    expect(html).toContain('spec-url="openapi.json"')
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    const summary = await (await fetch(`${origin}/llms.txt`)).text()
    for (const { path } of documentedRoutes) {
      expect(summary).toContain(path)
      expect(html).toContain(path)
    }
  })

  test('have guides beside them, whose links lead somewhere', async () => {
    const summary = await (await fetch(`${origin}/llms.txt`)).text()
    const names = [...summary.matchAll(/\(docs\/([\w-]+)\.md\)/g)].map(([, name]) => name)
    expect(names).toContain('errors')
    const seen = new Map<string, string>()
    const textOf = async (url: string): Promise<string> => {
      const known = seen.get(url)
      if (known !== undefined) return known
      const answer = await fetch(url)
      expect({ url, status: answer.status }).toEqual({ url, status: 200 })
      const text = await answer.text()
      seen.set(url, text)
      return text
    }
    for (const name of names) {
      const url = `${origin}/docs/${name}`
      expect(await textOf(`${url}.md`)).toStartWith('# ')
      for (const [, href = ''] of (await textOf(url)).matchAll(/<a href="([^"]+)"/g)) {
        if (/^https?:/.test(href)) continue
        const target = new URL(href, url)
        const text = await textOf(target.origin + target.pathname)
        if (target.hash !== '')
          expect({ href, text }).toMatchObject({ text: expect.stringContaining(`id="${target.hash.slice(1)}"`) })
      }
    }
  })

  test('explain every code of an error', async () => {
    const page = await (await fetch(`${origin}/docs/errors`)).text()
    const explained = [...page.matchAll(/<h3 id="(\w+)"/g)].map(([, code = '']) => code)
    const exact = ['invalid_mask', 'storage_limit_exceeded', 'task_not_found', 'video_generation_failed']
    expect(explained.toSorted()).toEqual([...failureCodes, ...exact].toSorted())
  })

  test('of the console and of the API are both there, and nothing else is', async () => {
    expect((await fetch(`${origin}/admin/v1/openapi.json`)).status).toBe(200)
    for (const path of ['/docs/../../package.json', '/docs/none.js', '/docs/viewer.js.gz', '/docsx']) {
      expect({ path, status: (await fetch(origin + path)).status }).toEqual({ path, status: 404 })
    }
    expect((await fetch(`${origin}/docs`, { method: 'POST' })).status).toBe(405)
  })
})
