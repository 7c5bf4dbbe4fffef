/** Screenshots of an account's pages that need an action first, besides the plain places. */
import { KEYS, LONG_MODEL } from './account-seed.ts'
import { chat } from './gateway.ts'
import { playScenes } from './play-scenes.ts'
import type { Scene } from './scene.ts'
import { button, drawer, inDialog, option, submit } from './selectors.ts'

const list = 'main section'

const rich: readonly Scene[] = [
  { name: 'rich-overview', who: 'rich', path: '/a/{rich}/overview?range=30d', shows: 'figure' },
  { name: 'rich-keys', who: 'rich', path: '/a/{rich}/keys', shows: 'role=table' },
  {
    name: 'rich-key-edit',
    who: 'rich',
    path: '/a/{rich}/keys',
    shows: 'role=table',
    act: async ({ page, words }) => {
      await page.click('main table button >> nth=0')
      await page.click(option(words['keys.edit']))
      await page.click(inDialog(button(words['modelChoice.some'])))
    },
  },
  {
    name: 'rich-key-menu',
    who: 'rich',
    path: '/a/{rich}/keys',
    shows: 'role=table',
    act: async ({ page, words }) => {
      await page.click('main table button >> nth=0')
      await page.appears(option(words['keys.revoke']))
    },
  },
  {
    name: 'rich-key-revoke',
    who: 'rich',
    path: '/a/{rich}/keys',
    shows: 'role=table',
    act: async ({ page, words }) => {
      await page.click('main tr:has-text("production-backend") button')
      await page.click(option(words['keys.revoke']))
      await page.appears(drawer)
    },
  },
  { name: 'rich-usage', who: 'rich', path: '/a/{rich}/usage?by=key', shows: 'figure' },
  { name: 'rich-usage-tokens', who: 'rich', path: '/a/{rich}/usage?measure=input&range=7d&step=hour', shows: 'figure' },
  { name: 'rich-requests', who: 'rich', path: '/a/{rich}/requests', shows: 'role=table' },
  {
    name: 'rich-requests-filtered',
    who: 'rich',
    path: '/a/{rich}/requests?from=2026-11-01T00:00:00.000Z&to=2026-11-30T00:00:00.000Z&min_cost=1000000&outcome=completed',
    shows: list,
  },
  {
    name: 'rich-requests-live',
    who: 'rich',
    path: '/a/{rich}/requests',
    shows: 'role=table',
    act: async ({ page, gateway, values }) => {
      await page.call('hover', 'role=row >> nth=3')
      await Bun.sleep(500)
      await (await chat({ ...gateway, key: values['secret'] ?? '' }, { model: 'penny' })).text()
      await page.appears('main button.pointer-events-auto')
    },
  },
  {
    name: 'rich-view-save',
    who: 'rich',
    path: '/a/{rich}/requests?outcome=failed',
    shows: list,
    act: async ({ page, words }) => {
      await page.click(button(words['views.name']))
      await page.click(option(words['views.save']))
      await page.appears(drawer)
    },
  },
  {
    name: 'rich-view-menu',
    who: 'rich',
    path: '/a/{rich}/requests?outcome=failed&range=90d',
    shows: list,
    act: async ({ page, words, url, values }) => {
      await page.click(button(words['views.name']))
      await page.click(option(words['views.save']))
      await page.fill(inDialog('css=input'), 'what went wrong in the last quarter, for all of the keys')
      await page.click(submit)
      await page.call('waitForSelector', 'role=dialog', { state: 'detached' })
      await page.goto(`${url}/a/${values['rich']}/requests?outcome=failed&range=90d`)
      await page.click('main header button >> nth=1')
      await page.appears(option(words['views.rename']))
    },
  },
  { name: 'rich-request-retried', who: 'rich', path: '/a/{rich}/requests/{failed}', shows: inDialog('css=dl') },
  { name: 'rich-request-dear', who: 'operator', path: '/a/{rich}/requests/{dear}', shows: inDialog('css=dl') },
  { name: 'rich-request-missing', who: 'rich', path: '/a/{rich}/requests/req_nothing', shows: inDialog('role=alert') },
  { name: 'account-missing', who: 'operator', path: '/a/acct_nobody/overview', shows: 'main [role=alert]' },
  { name: 'rich-tasks', who: 'rich', path: '/a/{rich}/tasks', shows: 'role=table' },
  {
    name: 'rich-task-completed',
    who: 'rich',
    path: '/a/{rich}/tasks?kind=video&task={taskCompleted}',
    shows: inDialog('css=video'),
    // As somebody sees it who has not started it: with its first frame.
    act: ({ page }) =>
      page.evaluate(`new Promise((done) => {
        const video = document.querySelector('[role=dialog] video')
        if (video.readyState >= 2) done()
        else video.addEventListener('loadeddata', () => done())
      })`),
  },
  { name: 'rich-task-failed', who: 'rich', path: '/a/{rich}/tasks?task={taskFailed}', shows: inDialog('css=dl') },
  { name: 'rich-task-running', who: 'rich', path: '/a/{rich}/tasks?task={taskRunning}', shows: inDialog('css=dl') },
  {
    name: 'rich-task-delete',
    who: 'rich',
    path: '/a/{rich}/tasks?kind=video',
    shows: 'role=table',
    act: async ({ page, words, values }) => {
      await page.click(`main tr:has(a[href*="${values['taskCompleted']}"]) td:last-child button`)
      await page.click(option(words['tasks.delete']))
      await page.appears(drawer)
    },
  },
  { name: 'rich-models', who: 'rich', path: '/a/{rich}/models', shows: 'role=table' },
  { name: 'rich-model', who: 'rich', path: `/a/{rich}/models?model=${LONG_MODEL}`, shows: inDialog('css=pre') },
  { name: 'rich-model-missing', who: 'rich', path: '/a/{rich}/models?model=nothing', shows: inDialog('role=alert') },
  { name: 'rich-billing', who: 'rich', path: '/a/{rich}/billing', shows: 'dl' },
  { name: 'rich-billing-holds', who: 'rich', path: '/a/{rich}/billing?tab=holds', shows: 'role=table' },
  {
    name: 'rich-redeem-refused',
    who: 'rich',
    path: '/a/{rich}/billing?dialog=redeem',
    shows: drawer,
    act: async ({ page }) => {
      await page.fill(inDialog('css=input'), 'TG-NONE-SUCH')
      await page.click(submit)
      await page.appears(inDialog('role=alert'))
    },
  },
  { name: 'rich-settings-members', who: 'rich', path: '/a/{rich}/settings', shows: 'role=table' },
  { name: 'rich-settings-limits', who: 'rich', path: '/a/{rich}/settings?tab=limits', shows: 'dl' },
]

const dialogs: readonly Scene[] = [
  {
    name: 'key-reveal',
    who: 'operator',
    path: '/a/{shop}/keys?dialog=new',
    shows: drawer,
    act: async ({ page, words }) => {
      await page.fill(inDialog('css=input >> nth=0'), KEYS[2] ?? '')
      await page.click(submit)
      await page.click(inDialog(button(words['test.send'])))
      await page.appears(`text=${words['test.verified']}`)
      await page.click(inDialog(button(words['keys.done'])))
      await page.appears(`text=${words['keys.notCopied']}`)
    },
  },
  {
    name: 'key-limits-wrong',
    who: 'operator',
    path: '/a/{shop}/keys?dialog=new',
    shows: drawer,
    act: async ({ page, words }) => {
      await page.click('role=dialog >> css=summary')
      await page.click(inDialog(button(words['modelChoice.some'])))
      await page.fill(inDialog('css=details input >> nth=0'), 'much')
      await page.fill(inDialog('css=details input >> nth=2'), '1.5')
    },
  },
  {
    name: 'settings-invite',
    who: 'operator',
    path: '/a/{shop}/settings',
    shows: list,
    act: async ({ page, words }) => {
      await page.click(button(words['people.invite']))
      await page.fill(inDialog('css=input >> nth=0'), `somebody with a long name ${crypto.randomUUID()}`)
      await page.click(submit)
      await page.appears(inDialog('css=pre'))
    },
  },
  {
    name: 'settings-program-made',
    who: 'operator',
    path: '/a/{shop}/settings?tab=programs',
    shows: list,
    act: async ({ page, words }) => {
      await page.click(button(words['programs.create']))
      await page.fill(inDialog('css=input'), KEYS[0] ?? '')
      await page.click(submit)
      await page.appears(inDialog('css=pre'))
    },
  },
  {
    name: 'redeem-done',
    who: 'operator',
    path: '/a/{shop}/billing?dialog=redeem',
    shows: drawer,
    act: async ({ page, gateway }) => {
      const made = await gateway.operate<{ codes: { code: string }[] }>('code.create', { count: 1, amount: '1' })
      await page.fill(inDialog('css=input'), made.codes[0]?.code ?? '')
      await page.click(submit)
      await page.appears(inDialog('role=status'))
    },
  },
  {
    name: 'you-refused',
    who: 'rich',
    path: '/you',
    shows: 'role=table',
    act: async ({ page }) => {
      await page.fill('main input[autocomplete=current-password]', 'not this one')
      await page.fill('main input[autocomplete=new-password]', 'correct horse battery')
      await page.click('main button[type=submit]')
      await page.appears('main [role=alert]')
    },
  },
  {
    name: 'menu-user',
    who: 'rich',
    path: '/a/{rich}/models',
    shows: 'role=table',
    act: async ({ page, words }) => {
      await page.click(`role=button[name=/${words['shell.you']}/]`)
      await page.appears(option(words['shell.signOut']))
    },
  },
  {
    name: 'menu-pages',
    who: 'operator',
    path: '/a/{rich}/keys',
    shows: 'role=table',
    act: async ({ page, words }) => {
      const isNarrow = await page.evaluate<boolean>('innerWidth < 1024')
      if (isNarrow) await page.click(button(words['shell.menu']))
      else await page.click(`role=combobox[name=/${words['shell.switch']}/]`)
    },
  },
  ...(['', 'e', 'nothing has this name'] as const).map((text, at): Scene => ({
    name: `command-${at}`,
    who: 'operator',
    path: '/a/{rich}/keys',
    shows: 'role=table',
    act: async ({ page }) => {
      await page.call('keyboard.press', 'Control+k')
      await page.fill('role=combobox', text)
    },
  })),
]

const poor: readonly Scene[] = (
  ['overview', 'keys', 'usage', 'requests', 'tasks', 'billing', 'settings', 'settings?tab=programs'] as const
).map((page) => ({
  name: `poor-${page.replace('?tab=', '-')}`,
  who: 'poor',
  path: `/a/{poor}/${page}`,
  shows: 'main section',
}))

/** An operator who looks as a member does: the last that one does, for it holds until it is ended. */
const viewed: Scene = {
  name: 'view-banner',
  who: 'operator',
  path: '/operator/accounts?open={rich}',
  shows: inDialog('css=dl'),
  act: async ({ page, words, url, values }) => {
    await page.click(inDialog(button(words['accounts.viewAs'])))
    await page.appears(button(words['view.end']))
    await page.goto(`${url}/a/${values['rich']}/playground`)
    await page.appears('main [role=status]')
  },
}

const door: readonly Scene[] = [
  { name: 'set-up-void', who: 'nobody', path: '/setup#nothing', shows: 'role=alert' },
  { name: 'sign-in', who: 'nobody', path: '/sign-in', shows: 'h1' },
  {
    name: 'sign-in-refused',
    who: 'nobody',
    path: '/sign-in',
    shows: 'h1',
    act: async ({ page }) => {
      await page.fill('input >> nth=0', 'nobody')
      await page.fill('input >> nth=1', 'not this one')
      await page.click('button[type=submit]')
      await page.appears('role=alert')
    },
  },
  {
    name: 'set-up',
    who: 'nobody',
    path: '/sign-in',
    shows: 'h1',
    act: async ({ page, gateway, url, values }) => {
      const input = { name: `新同事 ${crypto.randomUUID().repeat(2)}`, role: 'member', account: values['poor'] }
      const made = await gateway.operate<{ setup_path: string }>('user.create', input)
      await page.goto(new URL(url).origin + made.setup_path)
      await page.fill('input >> nth=1', 'one password')
      await page.fill('input >> nth=2', 'another password')
      await page.appears('role=alert')
    },
  },
  {
    name: 'set-up-first',
    who: 'nobody',
    path: '/sign-in',
    shows: 'h1',
    act: async ({ page, gateway }) => {
      await page.goto(/(\S+\/console\/setup#\S+)/.exec(gateway.output())?.[1] ?? '')
      await page.appears('input >> nth=2')
    },
  },
  { name: 'models-public', who: 'nobody', path: '/models', shows: 'role=table' },
  { name: 'model-public', who: 'nobody', path: `/models?model=${LONG_MODEL}`, shows: inDialog('css=table') },
]

export const accountScenes: readonly Scene[] = [...rich, ...playScenes, ...dialogs, ...poor, viewed, ...door]
