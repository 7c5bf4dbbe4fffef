/** Screenshots of the playground with messages and results. */
import { LONG_MODEL } from './account-seed.ts'
import type { BrowserPage } from './browser.ts'
import type { Scene, Stand } from './scene.ts'
import { button, inDialog } from './selectors.ts'
import { photo } from './test-pictures.ts'

const play = '/a/{rich}/playground'

/** Says something in the chat and waits for what it cost. */
async function say({ page, words }: Stand, text: string): Promise<void> {
  await page.fill('textarea', text)
  await page.click(button(words['play.send']))
  await page.appears(`role=log >> text=${words['play.details']}`)
}

async function make({ page, words }: Stand, prompt: string): Promise<void> {
  await page.fill('main form textarea', prompt)
  await page.click(button(words['play.generate']))
}

const picture = {
  name: 'a-picture-with-a-rather-long-name-as-cameras-and-phones-make-them-2026-11-21.png',
  mimeType: 'image/png',
}
const choosePicture = (page: BrowserPage, selector: string): Promise<unknown> =>
  page.evaluate(`(async () => {
    const data = new DataTransfer()
    const bytes = Uint8Array.from(atob('${photo(320, 180).toString('base64')}'), (letter) => letter.charCodeAt(0))
    data.items.add(new File([bytes], '${picture.name}', { type: '${picture.mimeType}' }))
    const input = document.querySelector(${JSON.stringify(selector)})
    input.files = data.files
    input.dispatchEvent(new Event('change', { bubbles: true }))
  })()`)

const TOOLS = JSON.stringify([
  {
    type: 'function',
    function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  },
])

export const playScenes: readonly Scene[] = [
  {
    name: 'play-chat-said',
    who: 'rich',
    path: `${play}?model=${LONG_MODEL}`,
    shows: 'textarea',
    act: async (stand) => {
      await say(stand, `为什么要有收费站？\n${'an-unbroken-word'.repeat(12)}`)
    },
  },
  {
    name: 'play-chat-tools',
    who: 'rich',
    path: `${play}?model=sandbox-chat`,
    shows: 'textarea',
    act: async ({ page, words }) => {
      for (const title of ['play.parameters', 'play.toolsTitle'] as const)
        await page.click(`summary:has-text("${words[title]}")`)
      await page.fill(`role=textbox[name="${words['play.tools']}"]`, TOOLS)
      await page.fill(`role=textbox[name="${words['play.message']}"]`, 'What is the weather in Paris?')
      await page.click(button(words['play.send']))
      await page.appears(`text=${words['play.resultHint']}`)
    },
  },
  {
    name: 'play-chat-wrong',
    who: 'rich',
    path: `${play}?model=broken`,
    shows: 'textarea',
    act: async ({ page, words }) => {
      await page.click(`summary:has-text("${words['play.parameters']}")`)
      await page.fill('textarea >> nth=0', 'Hello')
      await page.click(button(words['play.send']))
      await page.appears('role=log >> role=alert')
      await page.fill(`role=textbox[name="${words['play.temperature']}"]`, '9')
    },
  },
  {
    name: 'play-code',
    who: 'rich',
    path: play,
    shows: 'textarea',
    act: async ({ page, words }) => {
      await page.click(button(words['play.code']))
      await page.appears(inDialog('css=pre'))
    },
  },
  {
    name: 'play-image-made',
    who: 'rich',
    path: `${play}?kind=image&model=sandbox-image-classic`,
    shows: 'textarea',
    act: async (stand) => {
      await make(stand, 'a gate')
      await stand.page.appears(`text=${stand.words['play.details']}`)
    },
  },
  {
    name: 'play-image-mask',
    who: 'rich',
    path: `${play}?kind=image&model=sandbox-image`,
    shows: 'textarea',
    act: async ({ page }) => {
      await choosePicture(page, 'main input[type=file]')
      await page.appears('canvas')
      await page.call('focus', 'canvas')
      for (const key of ['ArrowLeft', 'Space', 'Shift+ArrowDown']) await page.call('keyboard.press', key)
    },
  },
  {
    name: 'play-video-fields',
    who: 'rich',
    path: `${play}?kind=video&model=sandbox-video`,
    shows: 'textarea',
    act: async ({ page }) => {
      await page.click('main fieldset input[type=checkbox]')
      await page.evaluate(`document.querySelectorAll('main details').forEach((one) => { one.open = true })`)
      await choosePicture(page, 'main input[type=file]')
    },
  },
  {
    name: 'play-video-running',
    who: 'rich',
    path: `${play}?kind=video&model=sandbox-video`,
    shows: 'textarea',
    act: async (stand) => {
      await make(stand, 'a gate opens [sandbox: task-ms=60000]')
      await stand.page.appears('role=article >> css=dl')
    },
  },
  {
    name: 'play-video-made',
    who: 'rich',
    path: `${play}?kind=video&model=sandbox-video-fast`,
    shows: 'textarea',
    act: async (stand) => {
      await make(stand, 'a gate opens [sandbox: task-ms=0]')
      await stand.page.appears('role=article >> css=video')
    },
  },
]
