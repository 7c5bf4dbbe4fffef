/** Chat in the playground: images, tools and their results, parameters, edits, and the request as code. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { violationsOf } from '../support/axe.ts'
import { expectQuiet, openStage, type ConsoleStage } from '../support/console-browser.ts'
import { button, field } from '../support/selectors.ts'

let stage: ConsoleStage
let address: string
const folder = mkdtempSync(join(tmpdir(), 'tollgate-chat-'))
const picture = join(folder, 'gate.png')

const yaml = `
models:
  words-only:
    price: { input: 1, output: 4 }
    pictures: false
    offers: [{ provider: sandbox, model: sandbox-chat }]
`

beforeAll(async () => {
  stage = await openStage({ yaml })
  address = `${stage.url}/a/${stage.gateway.accountId}/playground`
  const plain = { create: { width: 64, height: 64, channels: 3, background: '#88aacc' } } as const
  writeFileSync(picture, await sharp(plain).png().toBuffer())
}, 90_000)
afterAll(async () => {
  await stage.close()
  rmSync(folder, { recursive: true })
}, 30_000)

/** Hands a made-up picture to an element, as a browser does that pastes or drops one. */
const handOver = (kind: 'paste' | 'drop', selector: string, type = 'image/png'): string => `(() => {
  const data = new DataTransfer()
  data.items.add(new File([Uint8Array.of(137, 80, 78, 71)], '${kind}ed.bin', { type: '${type}' }))
  const init = { bubbles: true, cancelable: true }
  const event = '${kind}' === 'paste'
    ? new ClipboardEvent('paste', { ...init, clipboardData: data })
    : new DragEvent('drop', { ...init, dataTransfer: data })
  document.querySelector(${JSON.stringify(selector)}).dispatchEvent(event)
})()`

test('pictures come by choice, by pasting and by dropping, and the model sees them', async () => {
  const page = await stage.enter({ name: 'ida', role: 'owner' })
  await page.goto(`${address}?model=sandbox-chat`)
  await page.appears(field('Message'))
  await page.call('setInputFiles', 'input[type=file]', picture)
  await page.appears('role=img[name="gate.png"]')
  await page.evaluate(handOver('paste', 'textarea'))
  await page.appears('role=img[name="pasteed.bin"]')
  await page.evaluate(handOver('drop', 'form'))
  await page.appears('role=img[name="droped.bin"]')
  await page.evaluate(handOver('drop', 'form', 'text/plain'))
  await page.appears('text=droped.bin is not a PNG, JPEG, WebP or GIF file.')
  await page.click(button('Remove droped.bin'))
  await page.click(button('Remove pasteed.bin'))
  await page.fill(field('Message'), 'What is this?')
  await page.press(field('Message'), 'Enter')
  await page.appears('text=/I can see 1 image \\(image\\/png\\)/')
  await page.appears('text=/\\d+ in, \\d+ out/')
  expect(await violationsOf(page)).toEqual([])

  await page.click(button('As code'))
  await page.appears('role=dialog >> text=image_url')
  await page.click('role=dialog >> role=button[name="Python"]')
  await page.appears('role=dialog >> text=from openai import OpenAI')
  await page.click('role=dialog >> role=button[name="TypeScript"]')
  await page.appears("role=dialog >> text=import OpenAI from 'openai'")
  expect(await violationsOf(page)).toEqual([])
  await page.call('keyboard.press', 'Escape')

  // What was said can be changed; what came after it goes.
  await page.click(button('Edit'))
  await page.fill(field('Edited message'), 'And what is that?')
  await page.click(button('Send edited message'))
  await page.appears('text=/"And what is that\\?"/')
  expect(await page.text('role=log')).not.toContain('What is this?')
  await page.click(button('Regenerate'))
  await page.appears('role=link[name="Details"]')
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('a model that takes no pictures is sent none, and refuses those of others', async () => {
  const page = await stage.enter({ name: 'uma', role: 'owner' })
  await page.goto(`${address}?model=words-only`)
  await page.appears('role=button[name="This model accepts no images. Choose another model to send images."][disabled]')
  await page.evaluate(handOver('paste', 'textarea'))
  await page.appears('role=status >> text=This model accepts no images.')
  const { baseUrl, key } = stage.gateway
  const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }]
  const refused = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'words-only', messages: [{ role: 'user', content }] }),
  })
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ error: { code: 'model_not_supported', param: 'messages' } })
  await page.close()
}, 60_000)

test('tools go there and back, and what is wrong with them is said where it is', async () => {
  const page = await stage.enter({ name: 'tom', role: 'owner' })
  await page.goto(`${address}?model=sandbox-chat`)
  await page.click('summary >> text=Tools')
  await page.fill(field('Tools as JSON'), '[\n  { "type": "function", }\n]')
  await page.appears('text=Invalid JSON at line 2, column 25.')
  await page.fill(field('Message'), 'x')
  expect(await page.call<boolean>('isEnabled', button('Send'))).toBe(false)
  expect(await violationsOf(page)).toEqual([])
  await page.fill(field('Tools as JSON'), '')
  await page.click(button('Insert an example'))
  await page.call('selectOption', 'role=combobox[name="Tool choice"]', 'auto')
  await page.fill(field('Message'), 'How is the weather in Oslo?')
  await page.click(button('Send'))
  await page.appears('text=The model calls get_weather')
  await page.appears('text=/"city": "Oslo"/')
  await page.appears('text=The model is waiting for tool results. Enter them above.')
  expect(await violationsOf(page)).toEqual([])
  await page.fill(field('Result of get_weather'), 'rain, 4 degrees')
  await page.click(button('Send the result'))
  await page.appears('text=According to get_weather: rain, 4 degrees')
  await page.click(button('As code'))
  await page.appears('role=dialog >> text=/"tool_call_id"/')
  await page.call('keyboard.press', 'Escape')
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('parameters are checked before anything is sent, and sent as they stand', async () => {
  const page = await stage.enter({ name: 'pam', role: 'owner' }, { viewport: { width: 360, height: 800 } })
  await page.goto(`${address}?model=sandbox-chat`)
  await page.click('summary >> text=Parameters')
  await page.fill(field('Temperature (0 to 2)'), '3')
  await page.appears('text=Enter a number from 0 to 2.')
  await page.fill(field('Temperature (0 to 2)'), '0.5')
  await page.fill(field('Max output tokens'), '7')
  await page.call('selectOption', 'role=combobox[name="Response format"]', 'json_schema')
  await page.fill(field('JSON schema'), '{"type": "object", "properties": {"n": {"type": "integer"}}}')
  await page.click(button('As code'))
  await page.appears('role=dialog >> text=/"temperature": 0.5/')
  const code = await page.text('role=dialog >> pre')
  for (const part of ['"max_tokens": 7', '"json_schema"', '"stream": true']) expect(code).toContain(part)
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  await page.call('keyboard.press', 'Escape')
  await page.fill(field('Message'), 'a number')
  await page.click(button('Send'))
  await page.appears('text=/\\d+ in, \\d+ out/')
  await expectQuiet(page)
  await page.close()
}, 60_000)
