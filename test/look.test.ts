import { openStage } from './support/console-browser.ts'
import { test } from 'bun:test'
const out='/tmp/shots'
await Bun.$`mkdir -p ${out}`
test('look', async () => {
const stage = await openStage()
try {
  const page = await stage.enter({name:'kim', role:'owner'})
  await Bun.sleep(500)
  console.log(await page.evaluate('location.href'))
  await Bun.write(out+'/in.png', await page.screenshot())
  await page.call('keyboard.press','Control+k')
  await Bun.sleep(300)
  await Bun.write(out+'/k.png', await page.screenshot())
  console.log(await page.problems())
  const p2 = stage.browser.open({ viewport: { width: 1280, height: 800 } })
  await p2.goto(await stage.invite({name:'lee',role:'member'}))
  await p2.appears('role=heading[level=1]')
  await Bun.write(out+'/setup.png', await p2.screenshot())
} finally { await stage.close() }
}, 60000)
