/** Every page and dialog of the console, as a URL and a sign that it is drawn. */
export type Place = {
  readonly name: string
  /** Below `/console`; `{account}` is an account's id, `{request}` one of its requests. */
  readonly path: string
  /** A selector of what is drawn last. */
  readonly shows: string
  /** What is done there, one after the other: a method of the page with its arguments. In no language but selectors. */
  readonly steps?: readonly (readonly [method: string, ...args: readonly unknown[]])[]
  /** What undoes it, where it would be seen on the next page. */
  readonly undo?: Place['steps']
  /** Of a window in which all of it is seen, where that matters. */
  readonly height?: number
}

const drawer = 'role=dialog >> role=heading'
const table = 'role=table'
/** Either rows or the sentence that there are none. */
const list = 'main section'

export const accountPlaces: readonly Place[] = [
  { name: 'overview', path: '/a/{account}/overview', shows: 'figure' },
  { name: 'keys', path: '/a/{account}/keys', shows: table },
  { name: 'key-new', path: '/a/{account}/keys?dialog=new', shows: drawer },
  { name: 'key-edit', path: '/a/{account}/keys?key={key}', shows: drawer },
  { name: 'usage', path: '/a/{account}/usage', shows: 'figure' },
  { name: 'usage-hours', path: '/a/{account}/usage?range=24h&step=hour&by=key&measure=requests', shows: 'figure' },
  { name: 'requests', path: '/a/{account}/requests', shows: table },
  { name: 'requests-failed', path: '/a/{account}/requests?outcome=failed&range=7d', shows: list },
  { name: 'request', path: '/a/{account}/requests/{request}', shows: 'role=dialog >> text=Settled >> nth=0' },
  { name: 'tasks', path: '/a/{account}/tasks', shows: list },
  { name: 'playground-chat', path: '/a/{account}/playground', shows: 'textarea' },
  { name: 'playground-image', path: '/a/{account}/playground?kind=image', shows: 'textarea' },
  { name: 'playground-video', path: '/a/{account}/playground?kind=video', shows: 'textarea' },
  { name: 'models', path: '/a/{account}/models', shows: table },
  { name: 'model', path: '/a/{account}/models?model=sandbox-image', shows: 'role=dialog >> pre' },
  { name: 'billing', path: '/a/{account}/billing', shows: 'dl' },
  { name: 'billing-holds', path: '/a/{account}/billing?tab=holds', shows: list },
  { name: 'billing-redeem', path: '/a/{account}/billing?dialog=redeem', shows: drawer },
  { name: 'settings-members', path: '/a/{account}/settings', shows: list },
  { name: 'settings-programs', path: '/a/{account}/settings?tab=programs', shows: list },
  { name: 'settings-limits', path: '/a/{account}/settings?tab=limits', shows: 'dl' },
  { name: 'you', path: '/you', shows: table },
  { name: 'missing', path: '/nowhere', shows: 'h1' },
]

export const operatorPlaces: readonly Place[] = [
  { name: 'operator-providers', path: '/operator/providers', shows: table },
  { name: 'operator-provider-new', path: '/operator/providers?dialog=new', shows: drawer },
  { name: 'operator-provider', path: '/operator/providers?open=sandbox', shows: drawer },
  { name: 'operator-models', path: '/operator/models', shows: table, height: 1_500 },
  { name: 'operator-model-new', path: '/operator/models?dialog=new', shows: drawer },
  { name: 'operator-model', path: '/operator/models?open=sandbox-chat', shows: 'role=dialog >> li' },
  { name: 'operator-prices', path: '/operator/prices', shows: table, height: 1_500 },
  { name: 'operator-price-import', path: '/operator/prices?tab=import', shows: 'main form' },
  { name: 'operator-accounts', path: '/operator/accounts', shows: table },
  { name: 'operator-account-new', path: '/operator/accounts?dialog=new', shows: drawer },
  { name: 'operator-account', path: '/operator/accounts?open={account}', shows: 'role=dialog >> dl' },
  { name: 'operator-codes', path: '/operator/codes', shows: list },
  { name: 'operator-codes-new', path: '/operator/codes?dialog=new', shows: drawer },
  { name: 'operator-health', path: '/operator/health', shows: 'main dl' },
  { name: 'operator-audit', path: '/operator/audit', shows: table },
  { name: 'operator-settings', path: '/operator/settings', shows: table },
  { name: 'operator-programs', path: '/operator/settings?tab=programs', shows: list },
  { name: 'operator-server', path: '/operator/settings?tab=server', shows: 'main dl' },
]

export const addressOf = ({ path }: Place, values: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
