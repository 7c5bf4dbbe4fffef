/**
 * Screenshots of operator pages beyond the plain ones: the longest names, the smallest and largest amounts, every state
 * of a provider, a code and a model, results of actions, and forms with errors.
 */
import type { Place } from './console-places.ts'
import type { TestGateway } from './gateway.ts'

const LONG_NAME = 'Institute for the Prolonged Evaluation of Exceedingly Talkative Language Models (Northern Branch)'
const LONG_CHINESE =
  '上海市浦东新区人工智能与大语言模型联合研究院第三实验室自然语言处理与多模态内容生成平台运营管理中心客户服务部华东地区业务拓展组'
const LONG_PROVIDER = 'self-hosted-inference-cluster-of-the-northern-branch-rack-17b'
const LONG_MODEL =
  'northern-branch/experimental/mixture-of-experts-instruct-extended-context-2026-11-21-preview-with-tools'
const PRICED = { input: '0.15', output: '0.6' }

type Operate = TestGateway['operate']

/** The environment of a gateway that a vendor's key was given to. Nobody calls it. */
export const vendorKeys = { ANTHROPIC_API_KEY: 'sk-ant-nobody-calls' }

export async function dressUpForOperators(gateway: TestGateway): Promise<Record<string, string>> {
  const { baseUrl } = gateway
  const operate: Operate = (name, input) => gateway.operate(name, input)
  await operate('provider.add', {
    id: LONG_PROVIDER,
    preset: 'custom',
    base_url: 'http://127.0.0.1:9/a/long/path/to/where/the/models/are/and/a/little/further/v1',
    allow_private: true,
    key: 'sk-nobody-calls',
  })
  await operate('provider.add', { id: 'spare', preset: 'groq', key: 'gsk-nobody-calls' })
  await operate('provider.state', { id: 'spare', state: 'drained' })
  await operate('model.add', {
    id: LONG_MODEL,
    price: { input: '0.000001', output: '999999999', cached_input: '0.0000005' },
    context_tokens: 2_000_000,
    offers: [
      { provider: LONG_PROVIDER, model: `${LONG_MODEL}-upstream`, cost: { input: '1234.5', output: '60' }, weight: 3 },
      { provider: 'sandbox', model: 'sandbox-chat', cost: PRICED, priority: 1 },
      { provider: 'spare', model: 'llama', cost: PRICED, priority: 2 },
    ],
  })
  await operate('model.change', { id: LONG_MODEL, price: { input: '0.000002', output: '999999999' } })
  const only = (provider: string) => [{ provider, model: 'any', cost: PRICED }]
  await operate('model.add', { id: 'unreachable', price: PRICED, offers: only(LONG_PROVIDER) })
  await operate('model.add', { id: 'free-of-charge', price: { input: '0', output: '0' }, offers: only('sandbox') })
  const long = await operate<{ id: string }>('account.create', { name: LONG_NAME })
  const chinese = await operate<{ id: string }>('account.create', {
    name: LONG_CHINESE,
    balance: '0.000000001',
    models: [LONG_MODEL, 'sandbox-chat', 'unreachable'],
    limits: {
      requests_per_minute: 1_000_000_000_000,
      spend_per_day: '999999999.999999999',
      spend_per_month: '0.000000001',
    },
  })
  await operate('account.suspend', { account: long.id })
  const caller = await operate<{ id: string }>('account.create', { name: 'caller', balance: '1' })
  const { secret } = await operate<{ secret: string }>('key.create', { account: caller.id, name: 'a' })
  // What fails is seen at the provider, and rests.
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'unreachable', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 })
  for (let i = 0; i < 6; i++)
    await (await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body })).text()
  await makeCodes(operate, chinese.id)
  for (const name of [LONG_NAME, LONG_CHINESE]) {
    await operate('management_key.create', { name })
    await operate('user.create', { name, role: 'operator' })
  }
  return { long: long.id, chinese: chinese.id, provider: LONG_PROVIDER, model: encodeURIComponent(LONG_MODEL) }
}

async function makeCodes(operate: Operate, account: string): Promise<void> {
  const one = { count: 1, amount: '0.000000001', note: LONG_CHINESE }
  const made = await operate<{ codes: { id: string; code: string }[] }>('code.create', one)
  await operate('code.redeem', { account, code: made.codes[0]?.code })
  const large = { ...one, amount: '999999999.99', note: LONG_NAME }
  const { codes } = await operate<{ codes: { id: string }[] }>('code.create', large)
  await operate('code.void', { id: codes[0]?.id })
  const inAYear = new Date(Date.now() + 365 * 86_400_000).toISOString()
  await operate('code.create', { ...large, expires_at: inAYear })
}

const inDialog = (selector: string): string => `[role=dialog] ${selector}`
const submit = ['click', inDialog('[type=submit]')] as const
const shown = (selector: string, timeout = 20_000) => ['waitForSelector', selector, { timeout }] as const
const sale = 'fieldset:nth-of-type(1)'
const TALL = 1_700

/** What a model's form asks for depends on its kind. */
const formOf = (kind: string): Place => ({
  name: `operator-model-new-${kind}`,
  path: '/operator/models?dialog=new',
  shows: inDialog('form'),
  height: TALL,
  steps: [
    ['selectOption', inDialog('select >> nth=0'), kind],
    ...(kind === 'embedding' ? [] : [['click', inDialog(`${sale} button`)] as const]),
  ],
})

export const operatorScenes: readonly Place[] = [
  {
    name: 'operator-provider-test',
    path: '/operator/providers?open=sandbox',
    shows: inDialog('dl'),
    steps: [['click', inDialog('button.bg-accent')], shown(inDialog('summary')), ['click', inDialog('summary')]],
  },
  {
    name: 'operator-provider-test-failed',
    path: '/operator/providers?open={provider}',
    shows: inDialog('dl'),
    steps: [['click', inDialog('button.bg-accent')], shown(inDialog('[role=alert]'))],
  },
  {
    name: 'operator-provider-edit',
    path: '/operator/providers?open={provider}',
    shows: inDialog('dl'),
    steps: [['click', inDialog('.flex-wrap button >> nth=2')]],
  },
  {
    name: 'operator-provider-remove',
    path: '/operator/providers?open={provider}',
    shows: inDialog('dl'),
    steps: [['click', inDialog('.border-t button')]],
  },
  {
    name: 'operator-provider-refused',
    path: '/operator/providers?dialog=new',
    shows: inDialog('form'),
    steps: [
      ['fill', inDialog('input >> nth=0'), 'nearby'],
      ['fill', inDialog('[type=url]'), 'http://127.0.0.1:9/v1'],
      submit,
      shown(inDialog('[role=alert]')),
    ],
  },
  { name: 'operator-models-none', path: '/operator/models?q=nothing-has-this-name', shows: 'main section' },
  formOf('embedding'),
  formOf('image'),
  formOf('video'),
  {
    name: 'operator-model-edit',
    path: '/operator/models?open={model}',
    shows: inDialog('li'),
    height: TALL,
    steps: [['click', inDialog('.space-y-6 > button')], shown(inDialog('form'))],
  },
  {
    name: 'operator-model-edit-refused',
    path: '/operator/models?open={model}',
    shows: inDialog('li'),
    height: TALL,
    steps: [
      ['click', inDialog('.space-y-6 > button')],
      // What the server refuses is said above; what the form itself does not take, at its field.
      ['fill', inDialog('fieldset:nth-of-type(2) input'), '0'],
      submit,
      shown(inDialog('form > [role=alert]')),
      ['fill', inDialog(`${sale} input`), 'twelve'],
    ],
  },
  {
    name: 'operator-model-explain',
    path: '/operator/models?open={model}',
    shows: inDialog('li'),
    height: TALL,
    steps: [
      ['click', inDialog('section > div > button:not([role=combobox])')],
      shown(inDialog('ol')),
      ['click', inDialog('summary >> nth=0')],
    ],
  },
  { name: 'operator-model-image', path: '/operator/models?open=sandbox-image-classic', shows: inDialog('li') },
  { name: 'operator-model-gone', path: '/operator/models?open=nothing', shows: inDialog('[role=alert]') },
  {
    name: 'operator-price-diff',
    path: '/operator/prices?tab=import',
    shows: 'main form',
    steps: [
      ['fill', 'main form input >> nth=1', '12.5%'],
      ['click', 'main form [type=submit]'],
      shown('main section >> nth=1'),
    ],
  },
  {
    name: 'operator-price-refused',
    path: '/operator/prices?tab=import',
    shows: 'main form',
    steps: [
      ['fill', 'main form input >> nth=0', 'nobody'],
      ['click', 'main form [type=submit]'],
      shown('main [role=alert]'),
    ],
  },
  { name: 'operator-accounts-none', path: '/operator/accounts?q=nothing-has-this-name', shows: 'main section' },
  { name: 'operator-account-suspended', path: '/operator/accounts?open={long}', shows: inDialog('dl') },
  { name: 'operator-account-rich', path: '/operator/accounts?open={rich}', shows: inDialog('dl') },
  {
    name: 'operator-account-adjust',
    path: '/operator/accounts?open={chinese}',
    shows: inDialog('dl'),
    steps: [
      ['click', inDialog('.flex-wrap > button >> nth=1')],
      ['fill', inDialog('form input >> nth=0'), 'twelve'],
    ],
  },
  {
    name: 'operator-account-limits',
    path: '/operator/accounts?open={chinese}',
    shows: inDialog('dl'),
    height: 1_200,
    steps: [
      ['click', inDialog('h3 + button')],
      ['fill', inDialog('form [inputmode=numeric] >> nth=0'), 'many'],
    ],
  },
  {
    name: 'operator-account-taken',
    path: '/operator/accounts?dialog=new',
    shows: inDialog('form'),
    steps: [['fill', inDialog('input >> nth=0'), LONG_CHINESE], submit, shown(inDialog('[role=alert]'))],
  },
  {
    name: 'operator-codes-made',
    path: '/operator/codes?dialog=new',
    shows: inDialog('form'),
    steps: [
      ['fill', inDialog('[type=number]'), '12'],
      ['fill', inDialog('[inputmode=decimal]'), '0.5'],
      submit,
      shown(inDialog('pre')),
    ],
  },
  {
    name: 'operator-code-void',
    path: '/operator/codes',
    shows: 'main table',
    steps: [['click', 'main tbody button >> nth=0'], shown(inDialog('dl'))],
  },
  {
    name: 'operator-health-findings',
    path: '/operator/health',
    shows: 'main dl',
    steps: [['click', 'main header button'], shown('main [role=alert]')],
  },
  {
    name: 'operator-audit-entry',
    path: '/operator/audit?q={model}',
    shows: 'main table',
    steps: [['click', 'main tbody tr:nth-child(1) td:nth-child(3) button'], shown(inDialog('pre'))],
  },
  { name: 'operator-audit-none', path: '/operator/audit?q=nothing-has-this-name', shows: 'main section' },
  {
    name: 'operator-people-menu',
    path: '/operator/settings',
    shows: 'main table',
    steps: [['click', 'main tbody button'], shown('[role=menuitem]')],
  },
  {
    name: 'operator-people-link',
    path: '/operator/settings',
    shows: 'main table',
    steps: [['click', 'main tbody button'], ['click', '[role=menuitem] >> nth=-2'], shown(inDialog('pre'))],
  },
  {
    name: 'operator-people-invite',
    path: '/operator/settings',
    shows: 'main table',
    steps: [
      ['click', 'main section button.bg-accent'],
      ['fill', inDialog('input'), LONG_CHINESE],
      submit,
      shown(inDialog('[role=alert]')),
    ],
  },
  {
    name: 'operator-program-new',
    path: '/operator/settings?tab=programs',
    shows: 'main section',
    steps: [
      ['click', 'main section button.bg-accent'],
      ['fill', inDialog('input'), LONG_NAME],
      submit,
      shown(inDialog('pre')),
    ],
  },
  { name: 'operator-server-all', path: '/operator/settings?tab=server', shows: 'main dl', height: 2_400 },
  { name: 'docs', path: '/../docs', shows: 'openapi-explorer' },
  {
    name: 'view-as',
    path: '/operator/accounts?open={chinese}',
    shows: inDialog('dl'),
    steps: [['click', inDialog('.flex-wrap > button >> nth=0')], shown('[role=status] button')],
    undo: [['click', '[role=status] button'], shown('main table')],
  },
]

/** What lies over a page. */
export const overlayScenes: readonly Place[] = [
  {
    name: 'menu-you',
    path: '/a/{account}/overview',
    shows: 'figure',
    steps: [['click', 'main >> xpath=preceding-sibling::div[1] >> button >> nth=-1'], shown('[role=menuitem]')],
  },
  {
    name: 'menu-accounts',
    path: '/a/{chinese}/overview',
    shows: 'main dl',
    steps: [
      [
        'evaluate',
        "document.querySelector('button.lg\\\\:hidden').offsetParent && document.querySelector('button.lg\\\\:hidden').click()",
      ],
      ['click', 'nav button.border >> visible=true'],
      shown('[role=option]'),
    ],
  },
  {
    name: 'navigation',
    path: '/a/{account}/overview',
    shows: 'main dl',
    steps: [
      [
        'evaluate',
        "document.querySelector('button.lg\\\\:hidden').offsetParent && document.querySelector('button.lg\\\\:hidden').click()",
      ],
    ],
  },
  {
    name: 'command-bar',
    path: '/a/{account}/overview',
    shows: 'main dl',
    steps: [['keyboard.press', 'Control+k'], shown('[role=option]')],
  },
  {
    name: 'command-bar-none',
    path: '/a/{account}/overview',
    shows: 'main dl',
    steps: [
      ['keyboard.press', 'Control+k'],
      ['fill', inDialog('css=[role=combobox]'), 'nothing has this name'],
    ],
  },
  {
    name: 'toast',
    path: '/a/{account}/playground?kind=video',
    shows: 'textarea',
    steps: [
      ['fill', 'textarea', 'a gate'],
      ['click', 'main [type=submit]'],
      shown('section[aria-live] .shadow-float', 60_000),
    ],
  },
]
