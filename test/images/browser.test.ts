/** Images in a real browser: gateway URLs on a foreign page, and files of every type. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser, type Browser, type BrowserPage } from '../support/browser.ts'
import { startForeignSite, type ForeignSite } from '../support/foreign-site.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
let browser: Browser
let site: ForeignSite

beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([startGateway(), startBrowser()])
  site = startForeignSite()
}, 150_000)
afterAll(async () => {
  await browser.close()
  await site.stop()
  await gateway.close()
}, 30_000)

type ShownView = { readonly width: number; readonly height: number; readonly colours: number; readonly holes: number }
type Entry = { readonly url?: string; readonly b64_json?: string }

async function generate(body: object): Promise<Entry> {
  const response = await fetch(`${gateway.baseUrl}/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'a lighthouse at dusk', ...body }),
  })
  return ((await response.json()) as { data: Entry[] }).data[0] ?? {}
}

/** Loads a page with one `<img>` in it and waits until the browser has decoded it, or has given up. */
async function show(src: string): Promise<BrowserPage> {
  site.show(`<img id="it" src="${src}">`)
  const page = browser.open()
  await page.goto(site.url)
  await page.evaluate(`document.getElementById('it').decode().catch(() => undefined)`)
  return page
}

/** The natural size, and of a grid of 4,096 points how many colours there are, and how many points are transparent. */
const look = (page: BrowserPage): Promise<ShownView> =>
  page.evaluate<ShownView>(`(() => {
    const it = document.getElementById('it')
    const canvas = document.createElement('canvas')
    canvas.width = canvas.height = 64
    const context = canvas.getContext('2d')
    context.drawImage(it, 0, 0, 64, 64)
    const { data } = context.getImageData(0, 0, 64, 64)
    const points = Array.from({ length: 4096 }, (_, at) => data.slice(at * 4, at * 4 + 4))
    const [colours, holes] = [new Set(points.map(String)).size, points.filter(([, , , alpha]) => alpha === 0).length]
    return { width: it.naturalWidth, height: it.naturalHeight, colours, holes }
  })()`)

test('an address of an image works in an <img> of another origin, which learns nothing else of it', async () => {
  const { url = '' } = await generate({ model: 'sandbox-image-classic', size: '512x512' })
  expect(new URL(url).origin).not.toBe(new URL(site.url).origin)
  const page = await show(url)
  const { width, height } = await page.evaluate<ShownView>(
    `({ width: document.images[0].naturalWidth, height: document.images[0].naturalHeight })`,
  )
  expect([width, height]).toEqual([512, 512])
  // Shown, not handed over: its pixels stay closed to the page, and so do its bytes.
  expect(await look(page).catch(String)).toContain('SecurityError')
  expect(await page.evaluate(`fetch(${JSON.stringify(url)}).then(() => 'read', () => 'refused')`)).toBe('refused')
  await page.close()
})

test('an address that leads nowhere shows nothing: the test above can fail', async () => {
  const page = await show(`${gateway.baseUrl}/images/files/img_${'0'.repeat(27)}.png`)
  expect(await page.evaluate<number>('document.images[0].naturalWidth')).toBe(0)
  await page.close()
})

/** How files of a type begin: browsers decode by the bytes, whatever they are told. */
const signatures: Readonly<Record<string, RegExp>> = {
  png: /^\x89PNG\r\n/,
  jpeg: /^\xff\xd8\xff/,
  webp: /^RIFF[^]{4}WEBP/,
}

/** Expects a file to be of a type, and the browser to decode it at a size, to more than one colour. */
async function expectShown(file: string, type: string, size: string): Promise<ShownView> {
  expect(Buffer.from(file, 'base64').toString('latin1', 0, 12)).toMatch(signatures[type] ?? /^$/)
  const page = await show(`data:image/${type};base64,${file}`)
  const shown = await look(page)
  await page.close()
  expect(`${shown.width}x${shown.height}`).toBe(size)
  expect(shown.colours).toBeGreaterThan(8)
  return shown
}

const sizes = ['1024x1024', '1536x1024', '1024x1536', '512x256']
const files = ['png', 'jpeg', 'webp'].flatMap((type) => sizes.map((size): [string, string] => [type, size]))

test.each(files)('the browser decodes what sandbox-image makes: %s of %s', async (type, size) => {
  const { b64_json: file = '' } = await generate({ model: 'sandbox-image', size, output_format: type, quality: 'low' })
  await expectShown(file, type, size)
})

test.each(['256x256', '512x512', '1024x1024', '1792x1024', '1024x1792'])(
  'the browser decodes what sandbox-image-classic makes: %s',
  async (size) => {
    const asked = { model: 'sandbox-image-classic', size, response_format: 'b64_json' }
    const { b64_json: file = '' } = await generate(asked)
    await expectShown(file, 'png', size)
  },
)

test.each([
  ['1:1', '512', '512x512'],
  ['16:9', '1K', '1360x768'],
  ['21:9', '512', '784x336'],
  ['1:8', '1K', '368x2896'],
  ['4:5', '2K', '1824x2288'],
])('the browser decodes what sandbox-image-gemini makes: %s of %s', async (aspectRatio, imageSize, size) => {
  const headers = { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' }
  const contents = [{ parts: [{ text: 'a lighthouse at dusk' }] }]
  const response = await fetch(
    `${new URL(gateway.baseUrl).origin}/v1beta/models/sandbox-image-gemini:generateContent`,
    {
      method: 'POST',
      headers,
      body: JSON.stringify({ contents, generationConfig: { imageConfig: { aspectRatio, imageSize } } }),
    },
  )
  const { candidates } = (await response.json()) as {
    candidates: { content: { parts: { inlineData?: { data: string } }[] } }[]
  }
  const [file = ''] = candidates.flatMap(({ content }) => content.parts.flatMap((part) => part.inlineData?.data ?? []))
  await expectShown(file, 'png', size)
})

test.each(['generations', 'edits'])('the browser decodes each preview of a stream: %s', async (endpoint) => {
  const { b64_json: image = '' } = await generate({ model: 'sandbox-image', size: '512x256', quality: 'low' })
  const asked = { model: 'sandbox-image', prompt: 'at night', size: '512x256', quality: 'low', partial_images: 2 }
  const response = await fetch(`${gateway.baseUrl}/images/${endpoint}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...asked,
      stream: true,
      ...(endpoint === 'edits' && { images: [{ image_url: `data:image/png;base64,${image}` }] }),
    }),
  })
  const files = [...(await response.text()).matchAll(/^data: (\{.*)$/gm)].map(
    ([, json = '']) => (JSON.parse(json) as Entry).b64_json ?? '',
  )
  expect(files).toHaveLength(3)
  for (const file of files) await expectShown(file, 'png', '512x256')
})

test.each(['png', 'webp'])('a transparent background is transparent in the browser: %s', async (type) => {
  const asked = { model: 'sandbox-image', size: '1024x1024', output_format: type, quality: 'low' }
  const { b64_json: plain = '' } = await generate(asked)
  expect((await expectShown(plain, type, '1024x1024')).holes).toBe(0)
  const { b64_json: file = '' } = await generate({ ...asked, background: 'transparent' })
  expect((await expectShown(file, type, '1024x1024')).holes).toBeGreaterThan(100)
})
