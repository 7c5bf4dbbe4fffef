/** The playground sends real requests with a short-lived token, and they are charged like any other. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { violationsOf } from '../support/axe.ts'
import { expectQuiet, openStage, type ConsoleStage } from '../support/console-browser.ts'
import { button, field } from '../support/selectors.ts'

let stage: ConsoleStage
let address: string
const folder = mkdtempSync(join(tmpdir(), 'tollgate-pictures-'))

beforeAll(async () => {
  stage = await openStage()
  address = `${stage.url}/a/${stage.gateway.accountId}/playground`
}, 90_000)
afterAll(async () => {
  await stage.close()
  rmSync(folder, { recursive: true })
}, 30_000)

/** Keeps the names of the parts of the last form that the page sent. */
const NOTE_FORMS = `(() => {
  const send = window.fetch
  window.fetch = (url, init) => {
    if (init?.body instanceof FormData) window.parts = [...init.body.keys()]
    return send(url, init)
  }
})()`

test('chat is streamed, stopped, and says what it cost', async () => {
  const page = await stage.enter({ name: 'kim', role: 'owner' })
  await page.goto(address)
  await page.fill(field('Message'), 'Hello there')
  await page.press(field('Message'), 'Enter')
  await page.appears('text=/Hello there.*sandbox/s')
  await page.appears('text=/\\d+ in, \\d+ out · \\$0\\.000\\d+ · first token/')
  await page.fill(field('Message'), 'Tell me a very long story')
  await page.click(button('Send'))
  await page.appears('text=Tell me a very long story')
  await page.click(button('As code'))
  await page.appears('role=dialog >> text=chat/completions')
  expect(await page.text('role=dialog >> pre')).not.toContain('Bearer pg')
  await page.call('keyboard.press', 'Escape')
  await page.appears('role=link[name="Details"] >> nth=1')
  await page.click('role=link[name="Details"] >> nth=1')
  await page.appears('text=Settled')
  await page.appears('text=Playground')
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('an image is made with a preview, and edited where it is painted over', async () => {
  const picture = join(folder, 'gate.png')
  writeFileSync(
    picture,
    await sharp({ create: { width: 1024, height: 1024, channels: 3, background: '#88aacc' } })
      .png()
      .toBuffer(),
  )
  const second = join(folder, 'second.png')
  copyFileSync(picture, second)
  const page = await stage.enter({ name: 'lee', role: 'owner' })
  await page.goto(`${address}?kind=image`)
  await page.fill(field('Prompt'), 'a gate in the fog')
  await page.click(button('Generate'))
  await page.appears('role=img[name="Generated image 1"]')
  expect(await page.evaluate<number>(`document.querySelector('figure img').naturalWidth`)).toBeGreaterThan(0)
  await page.appears('role=link[name="Details"]')
  await page.call('setInputFiles', 'input[type=file]', [picture, second])
  await page.appears('text=2/16')
  await page.appears('canvas')
  await page.call('hover', 'canvas')
  await page.call('mouse.down')
  await page.call('mouse.move', 120, 400)
  await page.call('mouse.up')
  await page.appears('text=Only the painted area changes.')
  // The same by keyboard.
  await page.click(button('Clear'))
  await page.call('focus', 'canvas')
  for (const key of ['ArrowLeft', 'Space', 'Shift+ArrowDown']) await page.call('keyboard.press', key)
  await page.appears('text=Only the painted area changes.')
  expect(await violationsOf(page)).toEqual([])
  await page.evaluate(NOTE_FORMS)
  await page.click(button('Edit image'))
  await page.appears('role=link[name="Details"] >> nth=1')
  const parts = await page.evaluate<readonly string[]>('window.parts')
  expect(parts.filter((name) => /^(?:image|mask)/.test(name))).toEqual(['image[]', 'image[]', 'mask'])
  const requests = await stage.gateway.operate<{ endpoint: string; status: bigint | number }[]>('request.list', {
    account: stage.gateway.accountId,
    limit: 5,
  })
  expect(requests.map(({ endpoint }) => endpoint)).toContain('images.edits')
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('an image by the piece says its price before it is made', async () => {
  const page = await stage.enter({ name: 'pia', role: 'owner' })
  await page.goto(`${address}?kind=image&model=sandbox-image-classic`)
  await page.click('role=group[name="Size"] >> role=button[name="1024x1024"]')
  await page.click('role=group[name="Quality"] >> role=button[name=/^hd . .0.08$/]')
  await page.appears('text=This costs $0.08.')
  await page.fill(field('Prompt'), 'a gate')
  await page.click(button('Generate'))
  await page.appears('role=img[name="Generated image 1"]')
  await page.appears('text=/\\$0\\.08 · /')
  // Behind an address of the gateway's, which says how long it is good.
  await page.appears('text=/The URL is valid until/')
  await page.click('role=link[name="Tasks"] >> nth=0')
  await page.appears('role=table >> css=img')
  await page.close()
}, 60_000)

test('members look but do not spend', async () => {
  const page = await stage.enter({ name: 'max', role: 'member' })
  await page.goto(address)
  await page.appears('text=Members can view but not spend.')
  expect(await page.call<boolean>('isVisible', 'textarea')).toBe(false)
  await page.close()
}, 60_000)

test('a video says its price before it is pressed, shows how far it is, plays, and stays under tasks', async () => {
  const page = await stage.enter({ name: 'vera', role: 'owner' })
  await page.goto(`${address}?kind=video&model=sandbox-video`)
  await page.call('selectOption', 'role=combobox[name="Resolution"]', '480p')
  await page.call('selectOption', 'role=combobox[name="Seconds"]', '4')
  await page.appears('text=This costs $0.12.')
  await page.fill(field('Prompt'), 'a gate opens')
  await page.click(button('Generate'))
  await page.appears('text=/Queued|Running|Completed/')
  await page.appears('video')
  await page.evaluate(`new Promise((resolve, reject) => {
    const video = document.querySelector('video')
    const fail = () => reject(new Error('it does not play: ' + video.error?.message))
    if (video.error) fail()
    if (video.readyState > 0) resolve()
    video.addEventListener('loadedmetadata', resolve)
    video.addEventListener('error', fail)
  })`)
  await page.click('role=link[name="Tasks"] >> nth=0')
  await page.appears('role=table >> text=sandbox-video')
  await page.click('role=table >> role=link >> nth=0')
  await page.appears('role=dialog >> video')
  await page.appears('role=dialog >> text=$0.12 >> nth=0')
  await expectQuiet(page)
  await page.close()
}, 90_000)
