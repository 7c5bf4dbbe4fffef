/** The list of requests in a real browser: it updates live, waits while the user reads, and saves views. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { BrowserPage } from '../support/browser.ts'
import { expectQuiet, openStage, type ConsoleStage } from '../support/console-browser.ts'
import { button } from '../support/selectors.ts'

let stage: ConsoleStage

beforeAll(async () => {
  stage = await openStage()
}, 90_000)
afterAll(() => stage.close(), 30_000)

async function ask(model = 'sandbox-chat'): Promise<string> {
  const response = await fetch(`${stage.gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.arrayBuffer()
  return response.headers.get('x-request-id') ?? ''
}
async function askMany(count: number): Promise<void> {
  for (let left = count; left > 0; left -= 10)
    await Promise.all(Array.from({ length: Math.min(10, left) }, () => ask()))
}

const address = (page: BrowserPage): Promise<string> => page.evaluate('location.pathname + location.search')
const listUrl = (): string => `${stage.url}/a/${stage.gateway.accountId}/requests`
const topRow = `document.querySelector('[role=rowgroup] [role=row] a[href*="/requests/req_"]')?.getAttribute('href')`
async function until(page: BrowserPage, condition: string): Promise<void> {
  for (let i = 0; i < 120; i++) {
    if (await page.evaluate<boolean>(condition)) return
    await Bun.sleep(50)
  }
  throw new Error(`it did not come to pass that ${condition}`)
}
/** With the pointer where no row is: where somebody clicked before, the list may have appeared under it. */
async function following(page: BrowserPage): Promise<void> {
  await page.call('mouse.move', 5, 5)
  await page.appears('text=Following')
}

test('rows come by themselves, wait while somebody reads, and come when they are called', async () => {
  await askMany(60)
  const page = await stage.enter({ name: 'tail', role: 'owner' })
  await page.goto(listUrl())
  await following(page)
  const first = await ask()
  await until(page, `${topRow}.includes('${first}')`)
  // Only what fits.
  await page.call('focus', 'role=combobox[name="Model"]')
  await page.click('role=combobox[name="Model"]')
  await page.click('role=option[name="sandbox-chat"]')
  await until(page, `location.search === '?model=sandbox-chat'`)
  await following(page)
  const fitting = await ask()
  await ask('sandbox-mini')
  await until(page, `${topRow}.includes('${fitting}')`)
  await page.call('hover', 'role=row >> nth=3')
  await page.appears('text=Paused while you read')
  const one = await ask()
  await page.appears(button('1 new request'))
  expect(await page.evaluate<boolean>(`${topRow}.includes('${fitting}')`)).toBe(true)
  await page.call('mouse.move', 5, 5)
  await until(page, `${topRow}.includes('${one}')`)
  await page.evaluate(`document.querySelector('[role=table]').scrollTo(0, 640)`)
  await page.appears('text=Paused while you read')
  const at = await page.evaluate<string>(`document.querySelector('[role=table]').innerText.slice(200, 600)`)
  const [, last] = [await ask(), await ask()]
  await page.appears(button('2 new requests'))
  expect(await page.evaluate<string>(`document.querySelector('[role=table]').innerText.slice(200, 600)`)).toBe(at)
  await page.click(button('2 new requests'))
  await until(page, `${topRow}.includes('${last}')`)
  expect(await page.evaluate<number>(`document.querySelector('[role=table]').scrollTop`)).toBe(0)
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Live')
  await page.click('role=switch[name="Live"]')
  const unseen = await ask()
  await Bun.sleep(800)
  expect(await page.evaluate<boolean>(`document.querySelector('[role=table]').innerHTML.includes('${unseen}')`)).toBe(
    false,
  )
  // Switched on again it has what came meanwhile, too.
  await page.click('role=switch[name="Live"]')
  await until(page, `${topRow}.includes('${unseen}')`)
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('a lost connection is said, and mended without a hole', async () => {
  const page = await stage.enter({ name: 'lost', role: 'member' })
  await page.goto(listUrl())
  await following(page)
  await page.evaluate(`(() => {
    const real = window.fetch
    window.refusing = true
    window.fetch = (url, init) =>
      window.refusing && String(url).includes('/live') ? Promise.reject(new TypeError('no way')) : real(url, init)
  })()`)
  await page.click('role=switch[name="Live"]')
  await page.click('role=switch[name="Live"]')
  await page.appears('text=Connection lost, reconnecting')
  const missed = await ask()
  await page.evaluate('void (window.refusing = false)')
  await following(page)
  await until(page, `${topRow}.includes('${missed}')`)
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('a view is named, chosen again, renamed and forgotten', async () => {
  await ask('sandbox-mini')
  const page = await stage.enter({ name: 'views', role: 'member' })
  await page.goto(`${listUrl()}?outcome=completed&model=sandbox-mini`)
  await page.appears('role=table')
  await page.click(button('Saved views'))
  await page.click('role=menuitem[name="Save these filters"]')
  await page.fill('role=dialog >> role=textbox', 'small ones')
  await page.click('role=dialog >> role=button[name="Save"]')
  await page.appears(button('small ones'))
  await page.click(button('Clear filters'))
  await until(page, `location.search === ''`)
  // In another browser, too.
  await page.call('reload')
  await page.appears('role=table')
  await page.click(button('Saved views'))
  await page.click('role=menuitem[name="small ones"]')
  await until(page, `location.search === '?outcome=completed&model=sandbox-mini'`)
  await page.click(button('small ones'))
  await page.click('role=menuitem[name="Rename this view"]')
  await page.fill('role=dialog >> role=textbox', 'tiny ones')
  await page.click('role=dialog >> role=button[name="Save"]')
  await page.appears(button('tiny ones'))
  await page.click(button('tiny ones'))
  await page.click('role=menuitem[name="Delete this view"]')
  // It is asked first, and nothing is gone until then.
  await page.appears('role=dialog >> text=/This cannot be undone/')
  await page.click('role=dialog >> role=button[name="Cancel"]')
  await page.click(button('tiny ones'))
  await page.click('role=menuitem[name="Delete this view"]')
  await page.click('role=dialog >> role=button[name="Delete this view"]')
  await page.appears(button('Saved views'))
  expect(await address(page)).toEndWith('?outcome=completed&model=sandbox-mini')
  await expectQuiet(page)
  await page.close()
}, 60_000)

test('the drawer goes on over the border of a page, keeps its filter, and an id leads to it', async () => {
  await askMany(110)
  const page = await stage.enter({ name: 'drawer', role: 'owner' })
  await page.goto(`${listUrl()}?outcome=completed`)
  await page.appears('role=table')
  type Page = { data: { id: string }[]; next_cursor: string }
  const api = (query: string): Promise<Page> =>
    page.evaluate(`fetch('/admin/v1/accounts/${stage.gateway.accountId}/requests?${query}').then((r) => r.json())`)
  const first = await api('limit=100&outcome=completed')
  const second = await api(`limit=2&outcome=completed&cursor=${first.next_cursor}`)
  const [border, beyond, further] = [first.data.at(-1)?.id ?? '', second.data[0]?.id ?? '', second.data[1]?.id ?? '']
  await page.fill('role=searchbox[name="Request ID"]', border)
  await page.press('role=searchbox[name="Request ID"]', 'Enter')
  await page.appears('role=dialog >> text=Settled >> nth=0')
  expect(await address(page)).toEndWith(`/requests/${border}?outcome=completed`)
  await page.click(button('Older request'))
  await until(page, `location.pathname.endsWith('${beyond}')`)
  await page.call('keyboard.press', 'ArrowRight')
  await until(page, `location.pathname.endsWith('${further}')`)
  await page.call('keyboard.press', 'ArrowLeft')
  await until(page, `location.pathname.endsWith('${beyond}')`)
  expect(await address(page)).toEndWith('?outcome=completed')
  expect(await page.text('section[aria-label="Repeat this request"] pre')).toContain('"model":"sandbox-chat"')
  await page.call('keyboard.press', 'Escape')
  await page.call('waitForSelector', 'role=dialog', { state: 'detached' })
  expect(await address(page)).toEndWith('/requests?outcome=completed')
  // The focus is back where it was, though the last step had nowhere to go.
  expect(await page.evaluate<string>(`document.activeElement.getAttribute('aria-label')`)).toBe('Request ID')
  await page.close()
}, 60_000)

test('an operator filters by provider; nobody else is asked', async () => {
  const operator = await stage.enter({ name: 'op', role: 'operator' })
  await operator.goto(listUrl())
  await operator.appears('role=table')
  await operator.click('role=combobox[name="Provider"]')
  await operator.click('role=option[name="sandbox"]')
  await until(operator, `location.search === '?provider=sandbox'`)
  await operator.appears('role=table')
  const member = await stage.enter({ name: 'none', role: 'member' })
  await member.goto(listUrl())
  await member.appears('role=table')
  expect(await member.evaluate<number>(`document.querySelectorAll('[aria-label=Provider]').length`)).toBe(0)
  await Promise.all([operator.close(), member.close()])
}, 60_000)

/**
 * A thousand requests a second as the gateway tells of them: so many pushes with so many rows, and how many more there
 * were. They are made in the page, so that no load on this machine is measured along with it.
 */
const flood = `(() => {
  const real = window.fetch
  const time = (ms) => { let text = ''; for (let i = 0, rest = ms; i < 10; i++, rest = Math.floor(rest / 32)) text = '0123456789abcdefghjkmnpqrstvwxyz'[rest % 32] + text; return text }
  const row = (i, ms) => ({
    id: 'req_' + time(ms) + String(i).padStart(16, '0'), created_at: new Date(ms).toISOString(), endpoint: 'chat.completions',
    model: 'sandbox-chat', key: { id: 'key_x', name: 'flood' }, stream: true, status: 200, outcome: 'completed', error_code: null,
    input_tokens: 100 + i, cached_input_tokens: 0, output_tokens: 37, images: 0, usage_source: 'reported',
    charged_nano_usd: String(1000000 + i), held_nano_usd: '2000000', first_event_ms: 240, total_ms: 900, attempts: 1,
  })
  window.told = 0
  window.fetch = (url, init) => {
    if (!String(url).includes('/live')) return real(url, init)
    const encoder = new TextEncoder()
    const body = new ReadableStream({
      start(controller) {
        const send = (event) => controller.enqueue(encoder.encode('data: ' + JSON.stringify(event) + '\\n\\n'))
        send({ type: 'start', data: [], next_cursor: null })
        const timer = setInterval(() => {
          const ms = Date.now()
          window.told += 300
          send({ type: 'rows', data: Array.from({ length: 100 }, (_, i) => row(99 - i, ms)), more: 200 })
        }, 300)
        init.signal.addEventListener('abort', () => clearInterval(timer))
      },
    })
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  }
})()`
/** From the start of each frame to the end of what the page does in it, and from frame to frame. */
const frames = `new Promise((resolve) => {
  const work = [], between = []
  const begun = performance.now()
  let last = begun
  const channel = new MessageChannel()
  channel.port1.onmessage = ({ data }) => work.push(performance.now() - data)
  const frame = (now) => {
    between.push(now - last)
    last = now
    channel.port2.postMessage(performance.now())
    if (now - begun < 6000) requestAnimationFrame(frame)
    else {
      const at = (all, share) => all.toSorted((a, b) => a - b)[Math.floor(all.length * share)]
      resolve({ frames: between.length, work: [at(work, 0.5), at(work, 0.99)], between: [at(between, 0.5), at(between, 0.99)] })
    }
  }
  requestAnimationFrame(frame)
})`

test('a thousand new requests a second leave frames of 16 ms at the median, and the newest on top', async () => {
  const page = await stage.enter({ name: 'flood', role: 'owner' })
  await page.call('addInitScript', { content: flood })
  await page.goto(listUrl())
  await following(page)
  await until(page, 'window.told > 600')
  type Frames = { frames: number; work: [number, number]; between: [number, number] }
  const { work, between, frames: count } = await page.evaluate<Frames>(frames)
  const shown = (figures: readonly number[]): string => figures.map((ms) => ms.toFixed(1)).join(' / ')
  console.log(`frames ${count}: work ${shown(work)} ms, between ${shown(between)} ms (median / 99th)`)
  expect(work[0]).toBeLessThanOrEqual(16)
  // The display of a headless browser has 60 frames a second: none less than 16.7 ms after the one before.
  expect(between[0]).toBeLessThanOrEqual(17)
  const rows = await page.evaluate<number>(`document.querySelectorAll('[role=table] [role=row]').length`)
  expect(rows).toBeLessThan(80)
  expect(await page.evaluate<string>(topRow)).toContain('0000000000000099')
  await page.close()
}, 60_000)
