/**
 * What vendors charge, from a list that others maintain, pinned in the repository. `tools/price-list.ts` makes the
 * file; nothing is fetched while the gateway runs.
 */
import { readFileSync } from 'node:fs'
import type { ImageFamily } from '../vendors/image-families.ts'

/** Decimal dollars per million tokens. What is left out follows from input and output. */
type ListedUnits = {
  readonly input: string
  readonly output?: string
  readonly cached?: string
  readonly write?: string
  readonly write1h?: string
  readonly imageInput?: string
  readonly imageOutput?: string
}

/** Prices of a request whose input has more than so many tokens. */
export type ListedTier = ListedUnits & { readonly tokens: number }

/** Prices from a day on (UTC); without one, since before the list was made. */
export type ListedPrices = ListedUnits & { readonly from?: string; readonly above?: readonly ListedTier[] }

export type ListedModel = {
  /** Left out: text. */
  readonly kind?: 'embedding' | 'image'
  /** Of an image model: the family that says what may be asked of it. */
  readonly family?: ImageFamily
  readonly dimensions?: number
  readonly adjustable?: boolean
  /** The longest input and output together, in tokens. */
  readonly context?: number
  /** Of text: the longest answer, in tokens, thoughts included. */
  readonly output?: number
  /** It bills reasoning that it does not send. */
  readonly reasoning?: 'hidden'
  /** Audio is dearer than the price of input says. */
  readonly media?: 'refused'
  /** By date. */
  readonly prices: readonly ListedPrices[]
}

type ListedVendor = {
  /** What the vendor's API wants in front of the ids. */
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
  /** Where contexts and longest answers are from. */
  readonly tokens: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Presets whose models the list cannot price, and why. */
  readonly unlisted: Readonly<Record<string, string>>
  /** By preset. */
  readonly vendors: Readonly<Record<string, ListedVendor>>
}

let read: PriceList | undefined

/** The list. Read at its first use: a start without a vendor's key does not pay for it. */
export function priceList(): PriceList {
  read ??= JSON.parse(readFileSync(new URL('./price-list.json', import.meta.url), 'utf8')) as PriceList
  return read
}
