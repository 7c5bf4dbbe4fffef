import { resolve } from 'node:path'
import { command, group } from './command.ts'
import { otherPrices, tokenPrice, type PriceCardView } from './other-prices.ts'
import { lossText, type BelowCost } from './price-faults.ts'
import { failed, operate, shown, usage, type CommandOutcome } from './outcome.ts'
import type { Program } from './program.ts'
import { countText, shortTime, table, type Column } from './table.ts'
import type { Terminal } from './terminal.ts'
import { percentage, text } from './values.ts'

type Difference = { readonly what: string; readonly before: string | null; readonly after: string }

/** The value of `price.import`. */
type ImportView = {
  readonly source: { readonly package: string; readonly version: string; readonly released: string }
  readonly markup: string
  readonly changes: readonly {
    readonly model: string
    readonly kind: 'new' | 'changed'
    readonly differences: readonly Difference[]
  }[]
  readonly unchanged: number
  readonly skipped: readonly { readonly what: string; readonly reason: string }[]
  readonly changing: readonly { readonly model: string; readonly on: string }[]
  readonly held: readonly string[]
  readonly account_prices: readonly {
    readonly model: string
    readonly factor: string | null
    readonly accounts: readonly string[]
    readonly accounts_total: number
    readonly below_cost: readonly (BelowCost & { readonly offer: string })[]
  }[]
  readonly fingerprint: string
  readonly applied: boolean
}

type Units = PriceCardView & {
  readonly cached_input_usd_per_million: string
  readonly cache_write_usd_per_million: string
}

/** One element of the value of `price.list`. */
type CardView = Units & {
  readonly model: string
  readonly of: string
  readonly card: number
  readonly effective_from: string
  readonly tiers: readonly (Units & { readonly above_input_tokens: number })[]
}

type DifferenceRow = Difference & { readonly model: string; readonly kind: string }

const differenceColumns: readonly Column<DifferenceRow>[] = [
  { title: '', of: ({ kind }) => kind },
  { title: 'model', of: ({ model }) => model },
  { title: 'what', of: ({ what }) => what },
  { title: 'before', of: ({ before }) => before },
  { title: 'after', of: ({ after }) => after },
]

/** A new model is shown by its sale prices and limits. The rest follows from these and the mark-up. */
const isShown = (kind: string, { what }: Difference): boolean =>
  kind !== 'new' ||
  /^(?:sale (?:input|cached input|cache write|output|image input|image output)(?: above .*)?|limit .*)$/.test(what)

function drawImport(view: ImportView, terminal: Terminal): string {
  const { source, markup, changes, unchanged, skipped, changing, held, account_prices: ofAccounts } = view
  const rows = changes.flatMap(({ model, kind, differences }) =>
    differences.filter((one) => isShown(kind, one)).map((one) => ({ model, kind, ...one })),
  )
  const made = changes.filter(({ kind }) => kind === 'new').length
  const counts = `${made} new, ${changes.length - made} changed, ${unchanged} unchanged`
  const noted = [
    ...skipped.map(({ what, reason }) => `left alone: ${what}: ${reason}\n`),
    ...changing.map(({ model, on }) => `the list has other prices for ${model} from ${on}: import again then\n`),
    ...held.map((model) => `held back: ${model}: new, or with a change beyond the bound\n`),
    ...ofAccounts.map(accountLine),
  ]
  const read = source.released === 'now' ? 'as it is now' : `of ${source.released}`
  const list = [source.package, source.version, read].filter((part) => part !== '').join(' ')
  const title = `${list}, dollars per million tokens or for a piece, mark-up ${markup}`
  return `${title}\n${table(rows, differenceColumns, terminal)}${noted.join('')}${counts}\n`
}

/** What the import leaves to an account: a card of its own stays, a factor follows. */
function accountLine({ model, factor, accounts, accounts_total: total, below_cost: losses }: AccountLine): string {
  const more = total - accounts.length
  const who = `${accounts.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const pays = factor === null ? 'keeps prices of its own' : `pays ${factor} of the sale price`
  const lost = losses.map((loss) => `; below the cost of ${loss.offer}: ${lossText(loss)}`)
  return `customer: ${model}: ${who} ${pays}${lost.join('')}\n`
}
type AccountLine = ImportView['account_prices'][number]

type Approval = { readonly program: Program; readonly terminal: Terminal; readonly input: object }

/** Shows the plan, asks for approval, and applies exactly that plan. */
async function approve(
  { program, terminal, input }: Approval,
  view: ImportView,
  { asked }: { readonly asked: 'yes' | 'terminal' },
): Promise<CommandOutcome> {
  if (asked === 'terminal') {
    if (!terminal.interactive) return usage('There is no terminal to ask on: add --yes to apply, or --dry-run to look.')
    terminal.talk(drawImport(view, terminal))
    const typed = await terminal.ask('Type yes to apply: ')
    if (typed?.trim() !== 'yes') return failed('not_confirmed', 'not confirmed; nothing was changed')
  }
  const approved = { name: 'price.import', input: { ...input, approved: view.fingerprint } }
  return operate<ImportView>(program, approved, (applied) =>
    shown(applied, asked === 'yes' ? drawImport(applied, terminal) : '', {
      talk: `${countText(applied.changes.length, 'model')} written.`,
    }),
  )
}

const importing = command({
  name: 'price import',
  summary: 'Shows how vendors’ list prices and limits differ from the catalogue, and applies them on approval.',
  examples: [
    ['tollgate price import --all --dry-run', 'what would change'],
    ['tollgate price import --provider openai --markup 20%'],
    ['tollgate price import --provider openai --prefix openai/', 'all of its models as openai/…'],
    [
      'tollgate price import --all --from https://example.com/prices.json --within 20% --yes',
      'refreshes prices from your list; for a timer',
    ],
    ["tollgate price import --provider anthropic --model 'claude-sonnet-*' --markup 12.5% --yes"],
  ],
  options: {
    provider: { summary: 'import the models of this provider', value: text('PROVIDER') },
    model: { summary: 'only models with this id; * matches anything', value: text('PATTERN'), takes: 'many' },
    prefix: { summary: 'put this before the ids, such as openai/', value: text('PREFIX') },
    all: { summary: 'import all models of all providers' },
    markup: { summary: 'mark-up on the list price (TOLLGATE_MARKUP, else 0%)', value: percentage },
    from: {
      summary: 'the address or the file of a list of your own (default: the list in the program)',
      value: text('URL|FILE'),
    },
    'allow-private': { summary: 'the address may be on this machine or its networks' },
    within: { summary: 'leave out models with a change of more than this, and new ones', value: percentage },
    'dry-run': { summary: 'only show what would change' },
    yes: { summary: 'do it without asking' },
  },
  notes:
    'The list is @pydantic/genai-prices, pinned in this version, and nothing is fetched, unless --from names a list of\n' +
    'your own. The cost of an offer is the list price. The sale price is the list price with the mark-up. New prices\n' +
    'become new dated cards, so past charges do not change. Other offers of a model, and limits set by hand, are kept.\n' +
    'What tollgate.yaml declares is left alone.',
  run: async ({ options, program, terminal }) => {
    const { provider, model: models, prefix, markup, all, from, within, yes, 'dry-run': dryRun } = options
    if (provider === undefined && models.length === 0 && !all)
      return usage('price import: say what to import: --provider, --model or --all')
    const input = {
      models,
      ...(provider && { provider }),
      ...(prefix && { prefix }),
      ...(markup && { markup }),
      ...(from && { from: /^https?:/i.test(from) ? from : resolve(from) }),
      ...(options['allow-private'] && { allow_private: true }),
      ...(within && { within }),
    }
    return operate<ImportView>(program, { name: 'price.import', input }, (view) => {
      if (dryRun || view.changes.length === 0) return shown(view, drawImport(view, terminal))
      return approve({ program, terminal, input }, view, { asked: yes ? 'yes' : 'terminal' })
    })
  },
})

type CardRow = Units & { readonly card: CardView; readonly above: string }

const cardColumns: readonly Column<CardRow>[] = [
  { title: 'model', of: ({ card }) => card.model },
  { title: 'of', of: ({ card }) => card.of },
  { title: 'card', of: ({ card }) => card.card, kind: 'count' },
  { title: 'since', of: ({ card }) => shortTime(card.effective_from) },
  { title: 'above', of: ({ above }) => above },
  { title: 'input/1M', of: (row) => tokenPrice(row, row.input_usd_per_million), kind: 'price' },
  { title: 'cached/1M', of: (row) => tokenPrice(row, row.cached_input_usd_per_million), kind: 'price' },
  { title: 'write/1M', of: (row) => tokenPrice(row, row.cache_write_usd_per_million), kind: 'price' },
  { title: 'output/1M', of: (row) => tokenPrice(row, row.output_usd_per_million), kind: 'price' },
  { title: 'other', of: (row) => otherPrices(row, Number.POSITIVE_INFINITY) },
]

const list = command({
  name: 'price list',
  summary: 'Lists the price cards in force, or all cards that one model ever had, newest first.',
  examples: [['tollgate price list'], ['tollgate price list gpt-5-mini']],
  positionals: [{ name: 'model', summary: 'id of a model', value: text('MODEL'), takes: 'maybe' }],
  notes: 'The prices of a line apply to requests with more input tokens than ABOVE.',
  run: ({ args: { model }, program, terminal }) =>
    operate<readonly CardView[]>(program, { name: 'price.list', input: model ? { model } : {} }, (cards) => {
      const rows = cards.flatMap((card): CardRow[] => [
        { ...card, card, above: '' },
        ...card.tiers.map((tier) => ({ ...tier, card, above: String(tier.above_input_tokens) })),
      ])
      return shown(cards, table(rows, cardColumns, terminal))
    }),
})

export const priceGroup = group({
  name: 'price',
  summary: 'Sale prices and costs of models, and vendors’ list prices.',
  examples: [['tollgate price import --provider openai --markup 20%'], ['tollgate price list']],
  commands: [importing, list],
})
