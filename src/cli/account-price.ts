/** What an account pays, on the command line. */
import { parseFactor } from '../domain/price-factor.ts'
import { command } from './command.ts'
import { otherPrices, tokenPrice, type PriceCardView } from './other-prices.ts'
import { operate, shown, usage, type CommandOutcome } from './outcome.ts'
import { gapText, lossText, type BelowCost } from './price-faults.ts'
import { priceOptions, pricesGiven } from './price-options.ts'
import { shortTime, table, type Column } from './table.ts'
import type { Terminal } from './terminal.ts'
import { text, type ValueRule } from './values.ts'

/** One element of the value of `account.prices`. */
type AccountPriceView = {
  readonly model: string | null
  readonly kind: 'factor' | 'card' | 'none'
  readonly factor: string | null
  readonly effective_from: string
  readonly in_force: boolean
  readonly price: PriceCardView | null
}

/** The value of `account.price` and of `account.price_end`. */
type ChangedView = {
  readonly name: string
  readonly prices: readonly AccountPriceView[]
  readonly below_cost: readonly (BelowCost & { readonly model: string; readonly offer: string })[]
  readonly below_cost_total: number
  readonly unpriced: readonly string[]
}

const account = { name: 'account', summary: 'name or id of an account', value: text('ACCOUNT') } as const

const factorRule: ValueRule = {
  placeholder: 'FACTOR',
  problem: (given) =>
    parseFactor(given) === undefined
      ? 'must be above 0 and at most 100, with at most six decimals, such as 0.9'
      : undefined,
}

const paidText = ({ kind, factor }: AccountPriceView): string =>
  kind === 'factor' ? `${factor} × the model's price` : kind === 'card' ? 'prices of its own' : "the model's price"

const columns: readonly Column<AccountPriceView>[] = [
  { title: 'model', of: ({ model }) => model ?? 'all others' },
  { title: 'pays', of: paidText },
  { title: 'since', of: (view) => shortTime(view.effective_from) },
  {
    title: 'input/1M',
    of: ({ price }) => price && tokenPrice(price, price.input_usd_per_million),
    kind: 'price',
  },
  {
    title: 'output/1M',
    of: ({ price }) => price && tokenPrice(price, price.output_usd_per_million),
    kind: 'price',
  },
  { title: 'other', of: ({ price }) => price && otherPrices(price, 2) },
  { title: '', of: ({ in_force: isInForce }) => (isInForce ? undefined : 'not in force: no such model') },
]

const draw = (views: readonly AccountPriceView[], terminal: Terminal): string => table(views, columns, terminal)

const LOSSES_SHOWN = 5

function drawChanged(view: ChangedView, terminal: Terminal): CommandOutcome {
  const { below_cost: losses, below_cost_total: total, unpriced } = view
  const warnings = losses
    .slice(0, LOSSES_SHOWN)
    .map((loss) => `Warning: ${view.name} buys ${loss.model} below the cost of ${loss.offer}: ${lossText(loss)}`)
  if (total > warnings.length) warnings.push(`Warning: ${total - warnings.length} more prices are below cost.`)
  if (unpriced.length > 0) warnings.push(`Warning: ${gapText(`this price of ${view.name}`, unpriced)}`)
  const none = view.prices.length === 0 ? [`${view.name} pays the models' prices.`] : []
  return shown(view, draw(view.prices, terminal), { talk: [...none, ...warnings].join('\n') || undefined })
}

const setPrice = command({
  name: 'account price',
  summary: 'Sets what an account pays: a factor of the models’ prices, or prices of its own for one model.',
  examples: [
    ['tollgate account price acme --factor 0.9', '10 % less for every model'],
    ['tollgate account price acme --model gpt-5-mini --price-input 0.20 --price-output 1.60'],
    ['tollgate account price acme --model gpt-5-mini --remove', 'the factor, or the model’s price, applies again'],
  ],
  positionals: [account],
  options: {
    model: { summary: 'only this model (default: all without a price of their own)', value: text('MODEL') },
    factor: { summary: 'the factor of the model’s price', value: factorRule },
    ...priceOptions,
    remove: { summary: 'end the price of the account' },
  },
  notes:
    'A price applies to requests from now on. Requests that run, and videos that are being made, keep the price of\n' +
    'their start. The prices of a model are stated whole: a price that is left out follows from input and output.',
  run: ({ args, options: { model, factor, remove, ...prices }, program, terminal }) => {
    const price = pricesGiven(prices)
    const input = { account: args.account, ...(model && { model }) }
    if ([factor, price, remove || undefined].filter((given) => given !== undefined).length !== 1)
      return Promise.resolve(usage('account price: name one of --factor, prices such as --price-input, or --remove'))
    const change = remove
      ? { name: 'account.price_end', input }
      : { name: 'account.price', input: { ...input, ...(factor && { factor }), ...(price && { price }) } }
    return operate<ChangedView>(program, change, (view) => drawChanged(view, terminal))
  },
})

const list = command({
  name: 'account prices',
  summary: 'Lists the prices of an account that differ from the models’ prices.',
  examples: [
    ['tollgate account prices acme'],
    ['tollgate account prices acme --history', 'all it ever had, newest first'],
  ],
  positionals: [account],
  options: { history: { summary: 'all prices that it ever had, newest first' } },
  run: ({ args, options: { history }, program, terminal }) => {
    const input = { account: args.account, ...(history && { history: true }) }
    return operate<readonly AccountPriceView[]>(program, { name: 'account.prices', input }, (views) =>
      shown(views, draw(views, terminal), {
        talk: views.length === 0 ? `${args.account} pays the models' prices.` : undefined,
      }),
    )
  },
})

export const accountPriceCommands = [setPrice, list] as const
