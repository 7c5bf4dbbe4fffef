/** An operator in the console connects a vendor, routes a model to it, and views an account as a member. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { violationsOf } from '../support/axe.ts'
import { expectQuiet, openStage, type ConsoleStage } from '../support/console-browser.ts'
import { startSandboxProcess, type TestSandbox } from '../support/gateway.ts'
import { button, field, inDialog } from '../support/selectors.ts'

let stage: ConsoleStage
let vendor: TestSandbox

beforeAll(async () => {
  ;[stage, vendor] = await Promise.all([openStage(), startSandboxProcess()])
}, 90_000)
afterAll(async () => {
  await stage.close()
  await vendor.stop()
}, 30_000)

test('a vendor is added, tested, given a model, explained, called, and drained', async () => {
  const page = await stage.enter({ name: 'oscar', role: 'operator' })
  await page.click('role=link[name="Providers"]')
  await page.click(button('Add provider'))
  await page.fill(inDialog(field('ID')), 'nearby')
  await page.fill(inDialog(field('Base URL')), vendor.baseUrl)
  await page.fill(inDialog('input[type=password]'), 'sk-vendor-secret')
  await page.click(inDialog(button('Add provider')))
  // Loopback is refused without the operator's word.
  await page.appears(inDialog('role=alert'))
  await page.click(inDialog('role=checkbox'))
  await page.click(inDialog(button('Add provider')))
  await page.click(inDialog(button('Test')))
  await page.appears('text=/Answered in .*models?\\./')
  expect(await page.evaluate<string>('document.documentElement.outerHTML')).not.toContain('sk-vendor-secret')

  // A second key, and what else a connection may have.
  await page.fill(inDialog('input[type=password]'), 'sk-another-secret')
  await page.click(inDialog(button('Add key')))
  await page.appears(inDialog('role=listitem >> nth=1'))
  await page.click(inDialog(button('Edit')))
  await page.click(inDialog('text=More about the connection'))
  await page.fill(inDialog(field('Headers')), 'OpenAI-Organization: org-1')
  await page.fill(inDialog(field('Parameters')), 'api-version=2024-10-21')
  expect(await violationsOf(page)).toEqual([])
  await page.click(inDialog(button('Save')))
  await page.appears(inDialog('text=api-version'))
  await page.appears(inDialog('text=openai-organization'))
  await page.click(inDialog('role=button[name=/^Remove [0-9a-f]/] >> nth=1'))
  await page.call('waitForSelector', inDialog('role=listitem >> nth=1'), { state: 'detached' })
  expect(await page.evaluate<string>('document.documentElement.outerHTML')).not.toContain('another-secret')
  await page.call('keyboard.press', 'Escape')

  await page.click('role=link[name="Models & routes"]')
  await page.click(button('Add model'))
  await page.fill(inDialog(field('Public ID')), 'house/model')
  await page.fill(inDialog('role=group[name=/^Sale price/] >> role=textbox[name="Input / 1M"]'), '2')
  await page.fill(inDialog('role=group[name=/^Sale price/] >> role=textbox[name="Output / 1M"]'), '6')
  await page.call('selectOption', inDialog('role=combobox[name="Provider"]'), 'nearby')
  await page.fill(inDialog(field('Vendor’s model')), 'sandbox-chat')
  await page.click(inDialog(button('Add model')))
  await page.click(inDialog(button('Explain')))
  await page.appears('text=The gateway would try the offers below')
  await page.appears(inDialog('role=listitem >> text=nearby >> nth=0'))

  const { baseUrl, key } = stage.gateway
  const call = (): Promise<Response> =>
    fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'house/model', messages: [{ role: 'user', content: 'Hello' }] }),
    })
  expect((await call()).status).toBe(200)
  await page.goto(`${stage.url}/operator/providers?open=nearby`)
  await page.click(inDialog(button('Drain')))
  await page.appears('text=/1 model loses its only provider/')
  await page.click(`role=dialog[name=/^Drain/] >> ${button('Drain')}`)
  await page.appears(inDialog(button('Resume')))
  expect((await call()).status).toBe(503)
  await expectQuiet(page, [400])
  await page.close()
}, 90_000)

test('an image model is sold by size and quality, a video model by the second, and both can be called', async () => {
  const page = await stage.enter({ name: 'otto', role: 'operator' })
  const { gateway } = stage
  const sale = 'role=group[name=/^Sale price/] >> '
  const begin = async (id: string, kind: string, upstream: string): Promise<void> => {
    await page.goto(`${stage.url}/operator/models?dialog=new`)
    await page.fill(inDialog(field('Public ID')), id)
    await page.call('selectOption', inDialog('role=combobox[name="Type"]'), kind)
    await page.call('selectOption', inDialog('role=combobox[name="Provider"]'), 'sandbox')
    await page.fill(inDialog(field('Vendor’s model')), upstream)
    await page.click(inDialog(`${sale}${button('Add a price by the piece')}`))
  }
  await begin('house/pictures', 'image', 'sandbox-image-classic')
  // One that costs nothing is refused, with what was typed still there.
  await page.fill(inDialog(`${sale}${field('Dollars each')}`), '0')
  await page.click(inDialog(button('Add model')))
  await page.appears(inDialog('role=alert >> text=/needs a price/'))
  await page.fill(inDialog(`${sale}${field('Size')}`), '1024x1024')
  await page.fill(inDialog(`${sale}${field('Quality')}`), 'hd')
  await page.fill(inDialog(`${sale}${field('Dollars each')}`), '0.041')
  await page.call('selectOption', inDialog('role=combobox[name="Works like"]'), 'dall-e-3')
  expect(await violationsOf(page)).toEqual([])
  await page.click(inDialog(button('Add model')))
  await page.appears(inDialog('text=Image · 1024x1024 · hd >> nth=0'))
  await begin('house/films', 'video', 'sandbox-video-fast')
  await page.fill(inDialog(`${sale}${field('Resolution')}`), '720p')
  await page.fill(inDialog(`${sale}${field('Dollars each')}`), '0.02')
  await page.fill(inDialog(field('Durations, seconds')), '4,6')
  await page.click(inDialog(button('Add model')))
  await page.appears(inDialog('text=Second · 720p >> nth=0'))

  const call = (path: string, body: object): Promise<Response> =>
    fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const picture = await call('/images/generations', {
    model: 'house/pictures',
    prompt: 'a lighthouse',
    size: '1024x1024',
    quality: 'hd',
  })
  expect(picture.status).toBe(200)
  const [charged] = await gateway.operate<{ charged: string }[]>('request.list', { limit: 1 })
  expect(charged?.charged).toBe('41000000')
  const film = { model: 'house/films', content: [{ type: 'text', text: 'a lighthouse' }], resolution: '720p' }
  expect((await call('/videos', { ...film, duration: 5 })).status).toBe(400)
  expect((await call('/videos', { ...film, duration: 4 })).status).toBe(200)
  // What is changed is changed; what is not stays.
  await page.goto(`${stage.url}/operator/models?open=${encodeURIComponent('house/pictures')}`)
  await page.click(inDialog(button('Edit')))
  await page.fill(inDialog(`${sale}${field('Dollars each')}`), '0.05')
  await page.click(inDialog(button('Save')))
  await page.appears(inDialog('text=$0.05 >> nth=0'))
  // What a vendor takes by the token is no price of an image; and tokens beside pieces are not left out.
  const cost = { input: '0', output: '0', each: { token: '0.000007', upscale: '0.01' } }
  await gateway.operate('model.add', {
    id: 'house/mixed',
    kind: 'video',
    price: { input: '0', output: '3', each: { 'second/720p': '0.15', upscale: '0.02' } },
    video: { family: 'seedance-2' },
    offers: [{ provider: 'sandbox', model: 'sandbox-video', cost }],
  })
  await page.goto(`${stage.url}/operator/prices`)
  const row = await page.text('role=row[name=/^house.mixed/]')
  expect(row).toStartWith('house/mixedsandbox$0.00 /$3.00 ·$0.15 / s$0.000007 / token')
  const models = await gateway.operate<{ id: string; image?: object }[]>('model.list')
  expect(models.find(({ id }) => id === 'house/pictures')?.image).toMatchObject({ qualities: ['standard', 'hd'] })
  await expectQuiet(page, [400])
  await page.close()
}, 90_000)

test('an account is made and credited with a reason, which stands in its ledger', async () => {
  const page = await stage.enter({ name: 'olive', role: 'operator' })
  await page.goto(`${stage.url}/operator/accounts?dialog=new`)
  await page.fill(inDialog(field('Name')), 'Zebra & Söhne <b>GmbH')
  await page.click(inDialog(button('Create account')))
  await page.click(inDialog(button('Adjust balance')))
  await page.fill(inDialog(field('Dollars')), '1250.000000001')
  await page.fill(inDialog(field('Reason')), 'bank transfer 4711')
  await page.click(inDialog(button('Apply')))
  await page.appears(inDialog('[title="$1,250.000000001"]'))
  await page.click(inDialog(button('View as a member')))
  await page.appears('text=/You cannot make changes/')
  await page.goto(`${stage.url}/operator/accounts`)
  await page.appears('role=heading[name="This page is for operators."]')
  expect(await page.call<boolean>('isVisible', button('Create account'))).toBe(false)
  await page.click('role=link[name="Go to the overview"]')
  await page.click('role=link[name="Keys"]')
  await page.appears('role=heading[name="Keys"]')
  expect(await page.call<boolean>('isVisible', button('Create key'))).toBe(false)
  await page.click('role=link[name="Billing"]')
  await page.appears('text=bank transfer 4711')
  await page.click(button('Exit view'))
  await page.appears('role=heading[name="Accounts"]')
  await page.click('role=link[name="Audit log"]')
  await page.appears('text=account.credit')
  await page.close()
}, 60_000)

test('the books are verified by hand', async () => {
  const page = await stage.enter({ name: 'orla', role: 'operator' })
  await page.goto(`${stage.url}/operator/health`)
  await page.click(button('Verify now'))
  await page.appears('text=/The books are correct/')
  await page.close()
}, 60_000)
