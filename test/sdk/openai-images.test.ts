/** The official package in Node and in Python: images created, streamed and edited, in both ways of delivery. */
import { describe, expect, test } from 'bun:test'
import { startInNode, startInPython, type ClientProcess } from './client-process.ts'
import { findPython } from './python-package.ts'
import { hireClerk } from './stage.ts'
import { useGateway } from '../support/use-gateway.ts'
import { readPng } from '../support/png.ts'
import { maskWith, photo } from '../support/test-pictures.ts'

const found = findPython()
if (found.kind === 'missing') console.warn(`SKIPPED: images with openai in Python are not tested, ${found.reason}.`)
const { python, folder } = found.kind === 'found' ? found : { python: '', folder: '' }
const node = Bun.which('node')
if (!node) console.warn('SKIPPED: images with openai in Node are not tested, there is no node on the PATH.')

/** The strict client knows the sizes of GPT-image alone. */
const SIDE = 1024
const photograph = photo(SIDE, SIDE).toString('base64')
const hole = { x: 10, y: 20, width: 30, height: 40 }
const behind = maskWith(SIDE, SIDE, hole)
const small = maskWith(64, 64, hole).toString('base64')

const gateway = useGateway()

const sideOf = (base64: string | null | undefined): number => readPng(Buffer.from(base64 ?? '', 'base64')).width

type Client = readonly [name: string, isThere: boolean, start: () => ClientProcess | Promise<ClientProcess>]
const clients: readonly Client[] = [
  ['Node', node !== null, () => startInNode(node ?? '', 'openai-6')],
  ['Python', found.kind === 'found', () => startInPython(python, folder, 'loose')],
  ['Python, strict', found.kind === 'found', () => startInPython(python, folder, 'strict')],
]

for (const [name, isThere, start] of clients) {
  describe.skipIf(!isThere)(`openai in ${name}`, () => {
    const clerk = hireClerk({ start, baseUrl: () => gateway.baseUrl })
    const me = (): { key: string } => ({ key: gateway.key })
    const body = { model: 'sandbox-image', prompt: 'a red door', quality: 'low' }

    test('generates, whole and streamed with two partial images', async () => {
      const { data = [], usage } = await clerk.ask(me(), 'image', { body: { ...body, size: '1536x1024' } })
      expect(data.map(({ b64_json: file }) => sideOf(file))).toEqual([1536])
      expect(usage).toMatchObject({ output_tokens: 408 })
      const events = await clerk.ask(me(), 'imageStream', { body: { ...body, partial_images: 2 } })
      expect(events.map(({ type }) => type)).toEqual([
        'image_generation.partial_image',
        'image_generation.partial_image',
        'image_generation.completed',
      ])
      expect(events.map(({ b64_json: file }) => sideOf(file))).toEqual([1024, 1024, 1024])
    })

    test('edits one image, several, behind a mask, and streamed', async () => {
      const mask = behind.toString('base64')
      const masked = await clerk.ask(me(), 'image', { body, pictures: [photograph], mask })
      expect(masked.data?.map(({ b64_json: file }) => sideOf(file))).toEqual([SIDE])
      const several = await clerk.ask(me(), 'image', { body, pictures: [photograph, photograph] })
      expect(several).toMatchObject({ usage: { input_tokens_details: { image_tokens: 646 } } })
      const events = await clerk.ask(me(), 'imageStream', {
        body: { ...body, partial_images: 2 },
        pictures: [photograph],
      })
      expect(events.map(({ type }) => type.split('.')[1])).toEqual(['partial_image', 'partial_image', 'completed'])
      expect(await clerk.failing(me(), 'image', { body, pictures: [photograph], mask: small })).toMatchObject({
        name: 'BadRequestError',
        code: 'invalid_mask',
        param: 'mask',
      })
    })

    // Its models know no sizes and qualities but those of GPT-image.
    if (name.endsWith('strict')) return
    test('takes addresses and bytes from a model that gives either', async () => {
      const classic = { model: 'sandbox-image-classic', prompt: 'a boat', size: '256x256' }
      const linked = await clerk.ask(me(), 'image', { body: { ...classic, response_format: 'url' } })
      const file = await (await fetch(linked.data?.[0]?.url ?? '')).bytes()
      expect(readPng(Buffer.from(file)).width).toBe(256)
      const inline = await clerk.ask(me(), 'image', { body: { ...classic, response_format: 'b64_json', n: 2 } })
      expect(inline.data?.map(({ b64_json: bytes }) => sideOf(bytes))).toEqual([256, 256])
      expect(await clerk.failing(me(), 'image', { body: { ...body, response_format: 'url' } })).toMatchObject({
        name: 'BadRequestError',
        param: 'response_format',
      })
    })
  })
}
