/** Videos in the playground, from the options of the model to the charges, and notifications on other pages. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { violationsOf } from '../support/axe.ts'
import type { BrowserPage } from '../support/browser.ts'
import { expectQuiet, openStage, type ConsoleStage } from '../support/console-browser.ts'
import { button, choice, field } from '../support/selectors.ts'

let stage: ConsoleStage
let address: string
const folder = mkdtempSync(join(tmpdir(), 'tollgate-film-'))
const [one, two] = [join(folder, 'one.png'), join(folder, 'two.png')]

beforeAll(async () => {
  stage = await openStage({ env: { TOLLGATE_VIDEO_POLL_MS: '100' } })
  address = `${stage.url}/a/${stage.gateway.accountId}`
  for (const file of [one, two]) {
    const plain = { create: { width: 320, height: 180, channels: 3, background: '#88aacc' } } as const
    writeFileSync(file, await sharp(plain).png().toBuffer())
  }
}, 90_000)
afterAll(async () => {
  await stage.close()
  rmSync(folder, { recursive: true })
}, 30_000)

const files = (name: string): string => `role=group[name="${name}"] >> css=input[type=file]`

async function openStudio(page: BrowserPage, model = 'sandbox-video'): Promise<void> {
  await page.goto(`${address}/playground?kind=video&model=${model}`)
  await page.call('selectOption', choice('Resolution'), '480p')
  await page.call('selectOption', choice('Seconds'), '4')
}

test('two references and a super-resolution: the price before, the stages, the player, and the lines after', async () => {
  const page = await stage.enter({ name: 'vera', role: 'owner' })
  await openStudio(page)
  await page.call('setInputFiles', files('Reference images'), [one, two])
  await page.appears('text=2/9')
  // Either frames or references: the other is shut, and says why.
  await page.appears('text=This model uses either frames or references. Remove the references first.')
  expect(await page.call<boolean>('isEnabled', files('First frame'))).toBe(false)
  await page.call('check', 'role=checkbox[name=/^Super-resolution/]')
  await page.call('selectOption', choice('Enlarge to'), '2k')
  expect(
    await page.evaluate(
      `[...document.querySelectorAll('select')].some((it) => [...it.options].map(({value}) => value).join() === '720p,1080p,2k,4k,edge,same')`,
    ),
  ).toBe(true)
  await page.appears('text=This costs $0.18.')
  expect(await page.text('role=form >> css=dl')).toContain('$0.06')
  expect(await violationsOf(page)).toEqual([])
  await page.fill(field('Prompt'), 'a gate opens [sandbox: task-ms=1500]')
  await page.click(button('Generate'))
  await page.appears('role=article >> text=/Queued|Running|Super-resolution|Storing/')
  await page.appears('role=article >> css=video')
  await page.evaluate(`new Promise((resolve, reject) => {
    const video = document.querySelector('video')
    video.addEventListener('error', () => reject(new Error(video.error?.message)))
    if (video.readyState > 0) resolve()
    video.addEventListener('loadedmetadata', resolve)
  })`)
  expect(await page.evaluate<number>(`document.querySelector('video').videoHeight`)).toBe(1_440)
  const money = await page.text('role=article >> css=dl')
  expect(money).toBe('Held$0.18Video generation$0.12Super-resolution$0.06Charged$0.18')
  expect(await violationsOf(page)).toEqual([])

  // From the list with what is known; its prompt is not.
  await page.click('role=link[name=/^Tasks/] >> nth=0')
  await page.click('role=table >> role=button[name=/^Actions for/] >> nth=0')
  await page.appears('role=menuitem[name="Copy the ID"]')
  expect(await violationsOf(page)).toEqual([])
  await page.click('role=menuitem[name="Run again"]')
  await page.appears('text=This costs $0.18.')
  expect(await page.call<string>('inputValue', choice('Enlarge to'))).toBe('2k')
  expect(await page.call<string>('inputValue', field('Prompt'))).toBe('')
  await expectQuiet(page)
  await page.close()
}, 90_000)

test('whoever has left the page is told of the end, and the badge says so until the tasks are seen', async () => {
  const page = await stage.enter({ name: 'tess', role: 'owner' }, { viewport: { width: 1280, height: 800 } })
  await openStudio(page, 'sandbox-video-fast')
  await page.fill(field('Prompt'), 'a gate closes [sandbox: task-ms=4000]')
  await page.click(button('Generate'))
  await page.appears('role=article')
  await page.click('role=link[name="Keys"]')
  await page.appears('role=link[name="Tasks 1 video in progress"]')
  await page.appears('role=region[name="Notifications"] >> text=Your video of sandbox-video-fast is ready.')
  await page.appears('role=link[name="Tasks 1 video has ended"]')
  expect(await violationsOf(page)).toEqual([])
  await page.click('role=link[name="Show"]')
  await page.appears('role=dialog >> css=video')
  await page.appears('role=dialog >> text=Video generation')
  expect(await page.evaluate<string>('location.search')).toMatch(/task=req_/)
  expect(await violationsOf(page)).toEqual([])
  await page.call('keyboard.press', 'Escape')
  expect(await page.text('nav[aria-label="Pages"] a[href$="/tasks"]')).toBe('Tasks')
  // Nothing is open: nothing is asked any more.
  await page.goto(`${address}/keys`)
  await page.appears('role=table')
  await Bun.sleep(3_000)
  const asked = `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/admin/v1/')).length`
  expect(await page.evaluate<number>(asked)).toBeLessThanOrEqual(3)

  await page.goto(`${address}/tasks?kind=video`)
  await page.click('role=table >> role=button[name=/^Actions for/] >> nth=0')
  await page.click('role=menuitem[name="Delete"]')
  await page.appears('role=dialog >> text=Delete this video?')
  expect(await violationsOf(page)).toEqual([])
  await page.click('role=dialog >> role=button[name="Delete"]')
  await page.call('waitForSelector', 'role=dialog', { state: 'detached' })
  await page.call('waitForSelector', 'text=sandbox-video-fast', { state: 'detached' })
  await expectQuiet(page)
  await page.close()
}, 90_000)

test('a video that fails costs nothing, and what cannot be had is said before it is asked for', async () => {
  const page = await stage.enter(
    { name: 'finn', role: 'owner' },
    { viewport: { width: 360, height: 800 }, colorScheme: 'dark' },
  )
  await openStudio(page)
  await page.call('check', 'role=checkbox[name=/^Super-resolution/]')
  await page.call('selectOption', choice('Enlarge to'), 'edge')
  await page.fill(field('Shorter edge (64 to 2160)'), '9')
  await page.appears('text=The shorter edge must be a whole number from 64 to 2160.')
  await page.fill(field('Prompt'), 'a gate [sandbox: fails, task-ms=300]')
  expect(await page.call<boolean>('isEnabled', button('Generate'))).toBe(false)
  await page.fill(field('Shorter edge (64 to 2160)'), '900')
  await page.appears('text=This costs $0.16.')
  expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  await page.click(button('Generate'))
  await page.appears('text=/The video failed, and nothing was charged/')
  await page.appears('role=region[name="Notifications"] >> text=Nothing was charged.')
  expect(await page.text('role=article >> css=dl')).toBe('Held$0.16Charged$0.00Released$0.16')
  expect(await violationsOf(page)).toEqual([])
  await page.close()
}, 60_000)
