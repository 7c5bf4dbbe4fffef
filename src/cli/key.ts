import { modelsText } from './account.ts'
import { command, group } from './command.ts'
import {
  limitChangeOf,
  limitChangeOptions,
  limitOptions,
  limitsOfOptions,
  limitsViewText,
  type LimitsView,
} from './limits.ts'
import { operate, shown, usage } from './outcome.ts'
import { shortTime, table } from './table.ts'
import { list, listFrom, text } from './values.ts'

/** One element of the value of `key.list`. */
type KeyView = {
  readonly id: string
  readonly account: string
  readonly name: string
  /** The key without all but its last four characters. */
  readonly key: string
  readonly status: string
  readonly models: readonly string[] | null
  readonly limits: LimitsView
  readonly created_at: string
  readonly revoked_at: string | null
}

const create = command({
  name: 'key create',
  summary: 'Creates a key and prints it once. Only its digest is kept.',
  examples: [
    ['KEY=$(tollgate key create acme --name my-app)', 'stdout is the key alone'],
    ['tollgate key create acme --name ci --models sandbox-mini', 'may use this model only'],
    ['tollgate key create acme --name intern --spend-per-month 10.00 --concurrent 2'],
  ],
  positionals: [{ name: 'account', summary: 'whose balance the key spends', value: text('ACCOUNT') }],
  options: {
    name: { summary: 'what the key is for', value: text('NAME'), takes: 'needed' },
    models: { summary: 'models that the key may use (default: all of the account)', value: list },
    ...limitOptions,
  },
  run: ({ args: { account }, options: { name, models, ...limits }, program }) => {
    const input = { account, name, ...(models && { models: listFrom(models) }), limits: limitsOfOptions(limits) }
    return operate<KeyView & { readonly secret: string }>(program, { name: 'key.create', input }, (view) =>
      shown(view, `${view.secret}\n`, {
        talk: `This is the key '${view.name}' of account '${view.account}' (${view.id}). It is shown only once.`,
      }),
    )
  },
})

const keys = command({
  name: 'key list',
  summary: 'Lists keys, never the secrets themselves.',
  examples: [['tollgate key list'], ['tollgate key list acme']],
  positionals: [{ name: 'account', summary: 'only the keys of this account', value: text('ACCOUNT'), takes: 'maybe' }],
  run: ({ args: { account }, program, terminal }) =>
    operate<readonly KeyView[]>(
      program,
      { name: 'key.list', input: account === undefined ? {} : { account } },
      (views) => {
        const drawn = table(
          views,
          [
            { title: 'id', of: ({ id }) => id },
            { title: 'account', of: (view) => view.account },
            { title: 'name', of: ({ name }) => name },
            { title: 'key', of: ({ key }) => key },
            { title: 'status', of: ({ status }) => status },
            { title: 'models', of: ({ models }) => modelsText(models) },
            { title: 'limits', of: ({ limits }) => limitsViewText(limits) },
            { title: 'created', of: (view) => shortTime(view.created_at) },
          ],
          terminal,
        )
        const talk =
          views.length === 0 ? 'No keys yet. Create one: tollgate key create ACCOUNT --name my-app' : undefined
        return shown(views, drawn, { talk })
      },
    ),
})

const limit = command({
  name: 'key limits',
  summary: "Sets the limits of a key, in addition to its account's limits. Other limits stay as they are.",
  examples: [
    ['tollgate key limits key_01kpzt5x3c --requests-per-minute 60'],
    ['tollgate key limits key_01kpzt5x3c --spend-per-day none', 'removes the limit'],
    ['tollgate key limits key_01kpzt5x3c --model gpt-4.1 --concurrent 2', 'for this model, beside the others'],
  ],
  positionals: [{ name: 'key', summary: 'id of the key', value: text('KEY_ID') }],
  options: limitChangeOptions,
  run: async ({ args: { key }, options, program }) => {
    const change = limitChangeOf(options)
    if ('problem' in change) return usage(`key limits: ${change.problem}`)
    return operate<KeyView>(program, { name: 'key.limits', input: { key, ...change } }, (view) =>
      shown(view, `${view.id}  ${limitsViewText(view.limits)}\n`),
    )
  },
})

const revoke = command({
  name: 'key revoke',
  summary: 'Revokes a key for good, and cuts its running streams.',
  examples: [['tollgate key revoke key_01kpzt5x3c --yes'], ['tollgate key list', 'shows the ids']],
  positionals: [{ name: 'key', summary: 'id of the key', value: text('KEY_ID') }],
  confirms: ({ key }) => ({ consequence: `Key ${key} stops working now and for good.`, word: 'revoke' }),
  run: ({ args: { key }, program }) =>
    operate<KeyView>(program, { name: 'key.revoke', input: { key } }, (view) =>
      shown(view, `${view.id}  ${view.status}\n`),
    ),
})

export const keyGroup = group({
  name: 'key',
  summary: 'API keys.',
  examples: [['KEY=$(tollgate key create acme --name my-app)'], ['tollgate key list']],
  commands: [create, keys, limit, revoke],
})
