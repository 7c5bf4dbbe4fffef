import { accountPriceCommands } from './account-price.ts'
import { command, group, type Example } from './command.ts'
import { keyHint } from './first-call.ts'
import {
  limitChangeOf,
  limitChangeOptions,
  limitOptions,
  limitsOfOptions,
  limitsViewText,
  type LimitsView,
} from './limits.ts'
import { failed, operate, shown, usage, type CommandOutcome } from './outcome.ts'
import { operateList, pageOptions } from './pages.ts'
import type { Program } from './program.ts'
import { details, shortTime, table, usd } from './table.ts'
import type { Terminal } from './terminal.ts'
import { isEarly } from './thrown.ts'
import { dollars, list, listFrom, openingBalance, text } from './values.ts'

/** The value of `account.show`. */
type AccountView = {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly origin: 'declared' | 'stored'
  readonly models: readonly string[] | null
  readonly limits: LimitsView
  readonly available_usd: string
  readonly held_usd: string
  readonly posted_usd: string
  readonly active_keys: number
  readonly created_at: string
}

const account = { name: 'account', summary: 'name or id of an account', value: text('ACCOUNT') } as const

export const modelsText = (models: readonly string[] | null): string => models?.join(', ') ?? 'all'

const accountText = (view: AccountView, terminal: Terminal): string =>
  details(
    [
      ['name', view.name],
      ['id', view.id],
      ['status', view.status],
      ['available', usd(view.available_usd)],
      ['held', usd(view.held_usd)],
      ['posted', usd(view.posted_usd)],
      ['models', modelsText(view.models)],
      ['limits', limitsViewText(view.limits)],
      ['active keys', view.active_keys],
      ['created', shortTime(view.created_at)],
    ],
    terminal,
  )

const create = command({
  name: 'account create',
  summary: 'Creates an account.',
  examples: [
    ['tollgate account create acme --balance 25.00'],
    ['tollgate account create trial --models sandbox-chat,sandbox-mini', 'may use these models only'],
    ['tollgate account create demo --balance 5.00 --requests-per-minute 20 --spend-per-day 1.00'],
  ],
  positionals: [{ name: 'name', summary: 'a new name', value: text('NAME') }],
  options: {
    balance: { summary: 'opening balance in dollars (default: 0)', value: openingBalance },
    models: { summary: 'models that the account may use (default: all)', value: list },
    ...limitOptions,
  },
  run: ({ args: { name }, options: { balance, models, ...limits }, program, terminal }) => {
    const allowed = models && { models: listFrom(models) }
    const input = { name, ...(balance && { balance }), ...allowed, limits: limitsOfOptions(limits) }
    return operate<AccountView>(program, { name: 'account.create', input }, (view) =>
      shown(view, accountText(view, terminal), { talk: `Create a key for it: ${keyHint(name)}` }),
    )
  },
})

const accounts = command({
  name: 'account list',
  summary: 'Lists accounts with their balances.',
  examples: [['tollgate account list'], ["tollgate account list --json | jq -r '.[].name'"]],
  run: ({ program, terminal }) =>
    operate<readonly AccountView[]>(program, { name: 'account.list', input: {} }, (views) => {
      const drawn = table(
        views,
        [
          { title: 'name', of: ({ name }) => name },
          { title: 'status', of: ({ status }) => status },
          { title: 'available', of: (view) => view.available_usd, kind: 'money' },
          { title: 'held', of: (view) => view.held_usd, kind: 'money' },
          { title: 'keys', of: (view) => view.active_keys, kind: 'count' },
          { title: 'models', of: ({ models }) => modelsText(models) },
          { title: 'created', of: (view) => shortTime(view.created_at) },
        ],
        terminal,
      )
      const talk =
        views.length === 0 ? 'No accounts yet. Create one: tollgate account create NAME --balance 25.00' : undefined
      return shown(views, drawn, { talk })
    }),
})

/** A command that names an account and shows it after the operation. */
function onAccount(verb: 'show' | 'suspend' | 'resume', summary: string) {
  const example: Example = [`tollgate account ${verb} acme`]
  return {
    name: `account ${verb}`,
    summary,
    examples: [example] as const,
    positionals: [account] as const,
    run: ({ args, program, terminal }: { args: { account: string }; program: Program; terminal: Terminal }) =>
      operate<AccountView>(program, { name: `account.${verb}`, input: { account: args.account } }, (view) =>
        shown(view, accountText(view, terminal)),
      ),
  }
}

const suspend = command({
  ...onAccount('suspend', 'Suspends an account: its requests are refused, and its running streams are cut.'),
  confirms: (args: { account: string }) => ({
    consequence: `Every key of account '${args.account}' is refused from now on, and its running streams are cut.`,
    word: args.account,
  }),
})

const allow = command({
  name: 'account models',
  summary: 'Sets which models an account may use.',
  examples: [['tollgate account models acme gpt-4.1-mini,sandbox-chat'], ['tollgate account models acme all']],
  positionals: [account, { name: 'models', summary: 'model ids with commas between them, or `all`', value: list }],
  run: ({ args, program, terminal }) => {
    const models = args.models === 'all' ? null : listFrom(args.models)
    return operate<AccountView>(program, { name: 'account.models', input: { account: args.account, models } }, (view) =>
      shown(view, accountText(view, terminal)),
    )
  },
})

const limit = command({
  name: 'account limits',
  summary: 'Sets the limits of an account, for all its keys together. Other limits stay as they are.',
  examples: [
    ['tollgate account limits acme --requests-per-minute 600 --concurrent 50'],
    ['tollgate account limits acme --spend-per-day 20.00 --spend-per-month none'],
    ['tollgate account limits acme --model gpt-4.1 --requests-per-minute 60', 'for this model, beside the others'],
  ],
  positionals: [account],
  options: limitChangeOptions,
  run: async ({ args, options, program, terminal }) => {
    const change = limitChangeOf(options)
    if ('problem' in change) return usage(`account limits: ${change.problem}`)
    const input = { account: args.account, ...change }
    return operate<AccountView>(program, { name: 'account.limits', input }, (view) =>
      shown(view, accountText(view, terminal)),
    )
  },
})

type AccountBooking = AccountView & { readonly ref: string }

const direction = {
  credit: { summary: 'Adds money to an account.', reason: 'bank transfer of 3 May', done: 'added' },
  debit: {
    summary: 'Takes money from an account, but never more than is available.',
    reason: 'credited twice',
    done: 'taken',
  },
  refund: { summary: 'Returns money to an account.', reason: 'outage of 3 May', done: 'given back' },
} as const

const adjust = (kind: keyof typeof direction) =>
  command({
    name: `account ${kind}`,
    summary: direction[kind].summary,
    examples: [
      [`tollgate account ${kind} acme 25.00 --reason '${direction[kind].reason}'`],
      [`tollgate account ${kind} acme 25.00 --reason '${direction[kind].reason}' --ref invoice-17`, 'safe to repeat'],
    ],
    positionals: [account, { name: 'amount', summary: 'dollars, such as 25.00', value: dollars }],
    options: {
      reason: { summary: 'why, for the books', value: text('TEXT'), takes: 'needed' },
      ref: { summary: 'a reference that is booked at most once (default: a new one)', value: text('REF') },
    },
    failure: 'nothing was booked: no such account, too little available, or a REF that is booked already',
    run: ({ args, options: { reason, ref = `${kind}_${crypto.randomUUID()}` }, program, terminal }) => {
      const input = { account: args.account, amount: args.amount, reason, ref }
      const show = (view: AccountBooking): CommandOutcome =>
        shown(view, accountText(view, terminal), {
          talk: `$${args.amount.replace('$', '')} ${direction[kind].done}, reference ${ref}`,
        })
      return operate(program, { name: `account.${kind}`, input }, show).catch((error: unknown) =>
        unanswered(error, ref),
      )
    },
  })

type Journal = {
  readonly created_at: string
  readonly kind: string
  readonly amount_usd: string
  readonly ref: string
  readonly reason: string
}

const journal = command({
  name: 'account journal',
  summary: 'Lists what the operator booked on an account: credits, debits and refunds, newest first.',
  examples: [
    ['tollgate account journal acme'],
    ['tollgate account journal acme --limit 1000 --json', 'for the next 1000, add --before and the last reference'],
  ],
  positionals: [account],
  options: { ...pageOptions, before: { summary: 'only bookings older than this reference', value: text('REF') } },
  run: ({ args, options: paging, program, terminal }) => {
    const input = { account: args.account }
    const journals = { name: 'account.journal', input, paging, idOf: ({ ref }: Journal) => ref }
    return operateList(program, journals, (rows, rest) => {
      const drawn = table(
        rows,
        [
          { title: 'time', of: (row) => shortTime(row.created_at) },
          { title: 'kind', of: (row) => row.kind },
          { title: 'amount', of: (row) => row.amount_usd, kind: 'money' },
          { title: 'reference', of: (row) => row.ref },
          { title: 'reason', of: (row) => row.reason },
        ],
        terminal,
      )
      const talk =
        rows.length > 0
          ? undefined
          : paging.before === undefined
            ? 'No bookings yet.'
            : 'There are no older bookings, or no booking has this reference.'
      return shown(rows, drawn, { talk, rest })
    })
  },
})

/** The booking may have been made although its answer was lost. A second try with the same reference books nothing. */
function unanswered(error: unknown, ref: string): CommandOutcome {
  if (isEarly(error)) throw error
  const message = error instanceof Error ? error.message : String(error)
  return failed(
    'reply_lost',
    `the answer was lost (${message}). Try again with --ref ${ref}: it is booked at most once, and "booked already" means that it is done`,
  )
}

export const accountGroup = group({
  name: 'account',
  summary: 'Accounts and their money.',
  examples: [
    ['tollgate account create acme --balance 25.00'],
    ["tollgate account credit acme 25.00 --reason 'bank transfer of 3 May'"],
    ['tollgate account list'],
  ],
  commands: [
    create,
    accounts,
    command(onAccount('show', 'Shows one account.')),
    adjust('credit'),
    adjust('debit'),
    adjust('refund'),
    journal,
    suspend,
    command(onAccount('resume', 'Lifts a suspension.')),
    allow,
    limit,
    ...accountPriceCommands,
  ],
})
