/** The container image and the npm package hold the whole program: each starts and answers every documented request. */
import { afterAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildImage, dockerfile, dockerignore, type Image } from '../support/image.ts'

const ROOT = resolve(import.meta.dir, '../..')
const folders: string[] = []
const children: Bun.Subprocess[] = []

afterAll(async () => {
  for (const child of children) {
    child.kill('SIGTERM')
    await child.exited
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const freshFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-image-'))
  folders.push(folder)
  return folder
}

type StartedProcess = { readonly origin: string; readonly key: string }

/** Starts an image as a container would, but for its port. */
async function start({ root, env, workdir, command }: Image): Promise<StartedProcess> {
  const [program = '', ...args] = command
  const within = (path: string): string => (path.startsWith('/') ? join(root, path) : path)
  const data = within(env['TOLLGATE_DATA'] ?? '/data')
  mkdirSync(within(workdir), { recursive: true })
  const child = Bun.spawn([program, ...args.map(within), '--json'], {
    cwd: within(workdir),
    env: { PATH: process.env['PATH'] ?? '', HOME: data, ...env, HOST: '127.0.0.1', PORT: '0', TOLLGATE_DATA: data },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  children.push(child)
  let text = ''
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (text.endsWith('\n')) break
  }
  if (text === '') throw new Error(`it did not start: ${await child.stderr.text()}`)
  const told = JSON.parse(text) as { base_url: string; first_key: string }
  return { origin: new URL(told.base_url).origin, key: told.first_key }
}

type DescribedPath = { readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>> }

/** Asks for whatever the documents describe, and follows their links. */
async function expectAll({ origin, key }: StartedProcess): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const get = (path: string): Promise<Response> => fetch(origin + path, { headers })
  const pages = ['/docs', '/docs/', '/openapi.json', '/llms.txt', '/docs/theme.js', '/healthz', '/readyz', '/console/']
  for (const path of [...pages, '/admin/v1/openapi.json']) expect([path, (await get(path)).status]).toEqual([path, 200])
  const list = await (await get('/llms.txt')).text()
  const guides = [...list.matchAll(/\]\((docs\/[\w-]+)\.md\)/g)].map(([, path = '']) => `/${path}`)
  expect(guides.length).toBeGreaterThan(6)
  for (const guide of guides) {
    for (const path of [guide, `${guide}.md`]) expect([path, (await get(path)).status]).toEqual([path, 200])
    const page = await (await get(guide)).text()
    const links = [...page.matchAll(/(?:href|src)="(?!https?:|#)([^"]+)"/g)].map(([, link = '']) => link)
    for (const link of new Set(links)) {
      const { pathname } = new URL(link, origin + guide)
      expect([guide, link, (await get(pathname)).status]).toEqual([guide, link, 200])
    }
  }
  const { paths } = (await (await get('/openapi.json')).json()) as DescribedPath
  expect(Object.keys(paths).length).toBeGreaterThan(15)
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of Object.keys(methods).filter((name) => /^(?:get|post|delete)$/.test(name))) {
      const filled = path.replace(/\{model\}/, 'sandbox-chat').replace(/\{\w+\}/g, 'x')
      const body = method === 'post' ? { body: '{}' } : {}
      const { status } = await fetch(origin + filled, { method: method.toUpperCase(), headers, ...body })
      expect([method, path, status, status < 500]).toEqual([method, path, status, true])
    }
  }
  const chat = { model: 'sandbox-chat', max_tokens: 4, messages: [{ role: 'user', content: 'hello' }] }
  const answer = await fetch(`${origin}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(chat) })
  expect(answer.status).toBe(200)
}

describe('the image', () => {
  test('of the Dockerfile answers whatever is documented', async () => {
    const image = buildImage(freshFolder())
    expect(image).toMatchObject({ workdir: '/data', command: ['node', '/app/bin/tollgate.js', 'serve'] })
    await expectAll(await start(image))
  }, 120_000)

  test('has its base by digest, and only one', () => {
    const bases = [...dockerfile().matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    expect(new Set(bases)).toEqual(new Set(['${NODE}']))
    expect(dockerfile()).toMatch(/^ARG NODE=node:[\d.]+-bookworm-slim@sha256:[0-9a-f]{64}$/m)
  })

  test('cannot be built of files that are not sent to the builder', () => {
    const ignore = dockerignore().replace('!docs\n', '')
    expect(() => buildImage(freshFolder(), { ignore })).toThrow('COPY docs: not found')
  })

  test('without its guides says so with a 500 in the envelope, and serves all else', async () => {
    const text = dockerfile().replace('COPY docs docs\n', '')
    const { origin, key } = await start(buildImage(freshFolder(), { text }))
    for (const path of ['/docs', '/openapi.json', '/llms.txt', '/docs/api.md']) {
      const answer = await fetch(origin + path)
      expect([path, answer.status, answer.headers.get('x-request-id')]).toEqual([
        path,
        500,
        expect.stringMatching(/^req_/),
      ])
      expect(await answer.json()).toMatchObject({ error: { type: 'server_error', code: 'internal_error' } })
    }
    expect((await fetch(`${origin}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
  }, 60_000)
})

test('the npm package holds the whole program, and answers whatever is documented', async () => {
  const packed = Bun.spawnSync(['npm', 'pack', '--dry-run', '--ignore-scripts', '--json'], { cwd: ROOT })
  const [{ files } = { files: [] }] = JSON.parse(packed.stdout.toString()) as { files: { path: string }[] }[]
  const root = freshFolder()
  const image = buildImage(freshFolder())
  for (const { path } of files) {
    mkdirSync(resolve(root, 'app', path, '..'), { recursive: true })
    cpSync(join(ROOT, path), join(root, 'app', path))
  }
  cpSync(join(image.root, 'app/node_modules'), join(root, 'app/node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
  })
  await expectAll(await start({ ...image, root }))
}, 120_000)
