/**
 * Vendors' list prices, from a public list that is pinned in the repository. `tools/price-list.ts` makes the file.
 * Nothing is fetched while the gateway runs.
 */
import { readFileSync } from 'node:fs'
import type { ImageFamily } from '../vendors/image-families.ts'

/** Decimal dollars per million tokens. A unit that is left out follows from input and output. */
type ListedUnits = {
  readonly input: string
  readonly output?: string
  readonly cached?: string
  readonly write?: string
  readonly write1h?: string
  readonly imageInput?: string
  readonly imageOutput?: string
}

/** Prices of a request whose input has more than `tokens` tokens. */
export type ListedTier = ListedUnits & { readonly tokens: number }

/** Prices from a day (UTC) on. Without a day, they hold since before the list was made. */
export type ListedPrices = ListedUnits & { readonly from?: string; readonly above?: readonly ListedTier[] }

export type ListedModel = {
  /** Left out: text. */
  readonly kind?: 'embedding' | 'image'
  /** Of an image model: the family that gives its capabilities. */
  readonly family?: ImageFamily
  readonly dimensions?: number
  readonly adjustable?: boolean
  /** The longest input and output together, in tokens. */
  readonly context?: number
  /** Of a text model: the longest answer in tokens, reasoning included. */
  readonly output?: number
  /** It bills reasoning that it does not send. */
  readonly reasoning?: 'hidden'
  /** Audio input costs more than the price of input, so it is refused. */
  readonly media?: 'refused'
  /** By date. */
  readonly prices: readonly ListedPrices[]
}

type ListedVendor = {
  /** The prefix that the vendor's API requires before the ids. */
  readonly upstreamPrefix?: string
  readonly models: Readonly<Record<string, ListedModel>>
  /** Current models that cannot be sold at a price by the token, and why. */
  readonly leftOut: Readonly<Record<string, string>>
}

export type PriceList = {
  readonly source: {
    readonly package: string
    readonly version: string
    /** When its prices were current. */
    readonly released: string
    readonly licence: string
    readonly home: string
  }
  /** The sources of contexts and output limits. */
  readonly tokens: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Presets whose models the list cannot price, and why. */
  readonly unlisted: Readonly<Record<string, string>>
  /** By preset. */
  readonly vendors: Readonly<Record<string, ListedVendor>>
}

let read: PriceList | undefined

/** The list. It is read at its first use, so a start without a vendor's key does not pay for it. */
export function priceList(): PriceList {
  read ??= JSON.parse(readFileSync(new URL('./price-list.json', import.meta.url), 'utf8')) as PriceList
  return read
}
