import { modelKinds, saleOfKind, type ModelKind } from '../domain/catalog.ts'
import { gapText, lossWarning, type BelowCost } from './price-faults.ts'
import { command, group } from './command.ts'
import { modelExplain } from './model-explain.ts'
import { modelLimits } from './model-limits.ts'
import { readOffer, type OfferOption } from './offer.ts'
import { otherPrices, tokenPrice, type PriceCardView } from './other-prices.ts'
import { operate, shown, usage, type ShownOutcome } from './outcome.ts'
import { priceOptions, pricesGiven } from './price-options.ts'
import { table, usd, type Column } from './table.ts'
import type { Terminal } from './terminal.ts'
import { text, wholeNumber, type ValueRule } from './values.ts'

type Tier = PriceCardView & { readonly above_input_tokens: number }
type Prices = PriceCardView & { readonly cached_input_usd_per_million: string; readonly tiers: readonly Tier[] }

/** One element of the value of `model.list`. */
type ModelView = {
  readonly id: string
  readonly owned_by: string
  readonly origin: string
  readonly kind: ModelKind
  readonly price: Prices
  /** What the model can make but has no price for. */
  readonly unpriced: readonly string[]
  readonly offers: readonly {
    readonly provider: string
    readonly model: string
    readonly priority: number
    readonly weight: number
    readonly context_tokens: number | null
    readonly cost: Prices
    readonly below_cost: readonly BelowCost[]
  }[]
}

/** `price list` shows all of them. */
const OTHERS_SHOWN = 2

const tierText = (tier: Tier): string =>
  `above ${tier.above_input_tokens} ${usd(tier.input_usd_per_million)} in, ${usd(tier.output_usd_per_million)} out`

/** The prices of images and pieces, and the prices of longer requests. */
const othersOf = (card: Prices): string | undefined =>
  [otherPrices(card, OTHERS_SHOWN), ...card.tiers.map(tierText)].filter((part) => part !== undefined).join(', ') ||
  undefined

/** A kind without output has no price for it. */
const outputPrice = ({ kind: of, price: card }: ModelView): string | undefined =>
  !saleOfKind(of).counts.includes('output') ? undefined : tokenPrice(card, card.output_usd_per_million)

const columns: readonly Column<ModelView>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'input/1M', of: (view) => tokenPrice(view.price, view.price.input_usd_per_million), kind: 'price' },
  { title: 'cached/1M', of: (view) => tokenPrice(view.price, view.price.cached_input_usd_per_million), kind: 'price' },
  { title: 'output/1M', of: outputPrice, kind: 'price' },
  { title: 'other', of: ({ price: card }) => othersOf(card) },
  { title: 'origin', of: ({ origin }) => origin },
  { title: 'offers', of: ({ offers }) => offers.map(({ provider, model }) => `${provider}/${model}`).join(', ') },
]

const draw = (views: readonly ModelView[], terminal: Terminal): string => table(views, columns, terminal)

const kinds: readonly string[] = modelKinds
const [usual, ...others] = modelKinds
/** The kinds in words. */
const KINDS = `${usual} (default), ${others.slice(0, -1).join(', ')} or ${others.at(-1)}`
const kind: ValueRule = {
  placeholder: 'KIND',
  problem: (given) => (kinds.includes(given) ? undefined : `must be one of ${kinds.join(', ')}`),
}

const offerRule: ValueRule = {
  placeholder: 'OFFER',
  problem: (given) => {
    const offer = readOffer(given)
    return typeof offer === 'string' ? offer : undefined
  },
}
const OFFER_NOTES =
  'An OFFER is PROVIDER/MODEL or provider=…,model=…. These may follow, with commas between them:\n' +
  '  cost-input=, cost-output=, cost-cached-input=  dollars per million tokens\n' +
  '  cost-above-272000-input= and the like          the same for longer requests\n' +
  '  cost-each-second/720p= and the like            dollars for one piece\n' +
  '  priority=                                      offers with a lower number are tried first\n' +
  '  weight=                                        share among offers of the same priority\n' +
  '  context_tokens=                                longer requests go to the other offers\n' +
  'An offer without a cost costs the list price, or the sale price if no list has one.'

const add = command({
  name: 'model add',
  summary: 'Adds a model with its sale price and the offers that serve it, or replaces one.',
  examples: [
    ['tollgate model add gpt-4.1-mini --price-input 0.40 --price-output 1.60 --offer openai/gpt-4.1-mini'],
    [
      'tollgate model add fast --price-input 0.15 --price-output 0.60 \\\n' +
        '    --offer provider=groq,model=llama-4,cost-input=0.10,cost-output=0.30,priority=0 \\\n' +
        '    --offer provider=local,model=llama-4,cost-input=0,cost-output=0,priority=1',
      'the second offer is used when the first fails',
    ],
  ],
  positionals: [{ name: 'id', summary: 'what clients send as `model`', value: text('MODEL') }],
  options: {
    ...priceOptions,
    offer: { summary: 'an offer that serves it', value: offerRule, takes: 'many' },
    kind: { summary: `what it makes: ${KINDS}`, value: kind },
    family: {
      summary: 'capabilities of an image or video model, such as gpt-image or seedance-2',
      value: text('FAMILY'),
    },
    dimensions: {
      summary: 'length of the vectors of an embedding model',
      value: wholeNumber('N', { min: 1, max: 65_536 }),
    },
    'adjustable-dimensions': { summary: 'requests may ask for shorter vectors' },
    'max-output': { summary: 'maximum output tokens of one answer', value: wholeNumber('N', { min: 1, max: 1e9 }) },
  },
  notes: OFFER_NOTES,
  run: async ({ args: { id }, options, program, terminal }) => {
    const offers = options.offer.map(readOffer).filter((offer): offer is OfferOption => typeof offer !== 'string')
    const { family } = options
    if (family !== undefined && options.kind !== 'image' && options.kind !== 'video')
      return usage('model add: --family needs --kind image or --kind video')
    const max = options['max-output']
    const input = {
      id,
      price: pricesGiven(options) ?? {},
      offers,
      ...(family !== undefined && options.kind && { [options.kind]: { family } }),
      ...(max && { output_tokens_max: Number(max) }),
      ...(options.kind && { kind: options.kind }),
      ...(options.dimensions && { dimensions: Number(options.dimensions) }),
      ...(options['adjustable-dimensions'] && { dimensions_adjustable: true }),
    }
    if (offers.length === 0)
      return { kind: 'usage', message: 'model add: --offer is needed, such as --offer openai/gpt-x' }
    return operate<ModelView>(program, { name: 'model.add', input }, (view) => drawn(view, terminal))
  },
})

/** Shows a model, with warnings about its prices. */
function drawn(view: ModelView, terminal: Terminal): ShownOutcome {
  const { id, unpriced, offers } = view
  const gaps = unpriced.length === 0 ? undefined : `Warning: ${gapText(id, unpriced)}; requests for these are refused`
  const talk = [lossWarning(id, offers), gaps].filter((line) => line !== undefined).join('\n') || undefined
  return shown(view, draw([view], terminal), { talk })
}

const set = command({
  name: 'model set',
  summary: 'Changes the price or the offers of a stored model. What is not named stays as it is.',
  examples: [
    ['tollgate model set fast --price-output 0.80'],
    [
      'tollgate model set long --price-above 272000:input=5,output=22.50',
      'the price of requests with more input tokens',
    ],
    ['tollgate model set long --price-above none', 'one price for any length'],
  ],
  positionals: [{ name: 'id', summary: 'id of a model', value: text('MODEL') }],
  options: {
    ...priceOptions,
    offer: { summary: 'an offer that serves it; replaces all earlier offers', value: offerRule, takes: 'many' },
  },
  notes: OFFER_NOTES,
  run: ({ args: { id }, options, program, terminal }) => {
    const stated = pricesGiven(options)
    const offers = options.offer.map(readOffer)
    if (!stated && offers.length === 0)
      return Promise.resolve(usage('model set: name a price or an offer, such as --price-input 0.15'))
    const input = { id, ...(stated && { price: stated }), ...(offers.length > 0 && { offers }) }
    return operate<ModelView>(program, { name: 'model.change', input }, (view) => drawn(view, terminal))
  },
})

const models = command({
  name: 'model list',
  summary: 'Lists models with their prices per million tokens and their offers.',
  examples: [['tollgate model list'], ["tollgate model list --json | jq -r '.[].id'"]],
  run: ({ program, terminal }) =>
    operate<readonly ModelView[]>(program, { name: 'model.list', input: {} }, (views) => {
      const talk = views.length === 0 ? 'No models yet. Add one: tollgate model add --help' : undefined
      return shown(views, draw(views, terminal), { talk })
    }),
})

const remove = command({
  name: 'model remove',
  summary: 'Removes a model: requests for it are refused from now on.',
  examples: [['tollgate model remove fast --yes']],
  positionals: [{ name: 'id', summary: 'id of a model', value: text('MODEL') }],
  confirms: ({ id }) => ({ consequence: `Model '${id}' is removed; requests for it are refused.`, word: id }),
  run: ({ args: { id }, program }) =>
    operate<{ id: string }>(program, { name: 'model.remove', input: { id } }, (value) =>
      shown(value, `${value.id}  removed\n`),
    ),
})

export const modelGroup = group({
  name: 'model',
  summary: 'Models, their sale prices, and who serves them.',
  examples: [
    ['tollgate model list'],
    ['tollgate model add gpt-4.1-mini --price-input 0.40 --price-output 1.60 --offer openai/gpt-4.1-mini'],
  ],
  commands: [add, set, models, modelLimits, modelExplain, remove],
})
