/** The units of a price, with their names for people and programs. */
import type { UnitPrices } from './price.ts'
import type { UsageBucket } from './usage.ts'

type Unit = {
  readonly unit: UsageBucket
  /** `name` is for the API, `words` for people. */
  readonly name: string
  readonly words: string
  /** The unit whose price applies if this one has none of its own. */
  readonly like?: UsageBucket
}

export const priceUnits: readonly Unit[] = [
  { unit: 'inputFresh', name: 'input', words: 'input' },
  { unit: 'inputCached', name: 'cached_input', words: 'cached input', like: 'inputFresh' },
  { unit: 'cacheWrite5m', name: 'cache_write', words: 'cache write', like: 'inputFresh' },
  { unit: 'cacheWrite1h', name: 'cache_write_1h', words: 'cache write of an hour', like: 'cacheWrite5m' },
  { unit: 'outputText', name: 'output', words: 'output' },
  { unit: 'outputReasoning', name: 'reasoning', words: 'reasoning', like: 'outputText' },
  { unit: 'inputImage', name: 'image_input', words: 'image input', like: 'inputFresh' },
  { unit: 'outputImage', name: 'image_output', words: 'image output', like: 'outputText' },
]

/** Whether a price states this unit, so that it does not follow from another. */
export const isStated = (prices: UnitPrices, { unit, like }: Unit): boolean =>
  like === undefined || prices[unit] !== prices[like]
