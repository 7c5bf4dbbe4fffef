/** The models that an account may use, with their sale prices. */
import { queryOptions } from '@tanstack/react-query'
import { path } from './api.ts'
import { listQuery, wholeList } from './lists.ts'

export const modelKinds = ['text', 'embedding', 'image', 'video'] as const
export type ModelKind = (typeof modelKinds)[number]

/** Nano-dollars per million tokens; `each`: per piece. */
export type UnitPrices = {
  readonly input: string
  readonly cached_input: string
  readonly cache_write: string
  readonly cache_write_1h: string
  readonly output: string
  readonly reasoning: string
  readonly image_input: string
  readonly image_output: string
  readonly each: Readonly<Record<string, string>>
}
/** What an offer earns, in per cent: of the sale price, and of the cost where there is one. */
export type Margin = {
  readonly input_percent: number | null
  readonly output_percent: number | null
  readonly input_markup_percent: number | null
  readonly output_markup_percent: number | null
}
/** What is sold for less than it costs: nano-dollars for a million tokens, or for one piece. */
export type Loss = {
  readonly unit: string
  readonly above_input_tokens: number | null
  readonly sale: string
  readonly cost: string
}
export type PriceCard = UnitPrices & {
  readonly card: number
  readonly effective_from: string
  readonly tiers: readonly (UnitPrices & { readonly above_input_tokens: number })[]
}
export type ImageFacts = {
  readonly surface?: 'images' | 'turn'
  readonly sizes: readonly string[]
  readonly sizeDefault: string
  readonly qualities: readonly string[]
  readonly qualityDefault: string
  readonly formats: readonly string[]
  readonly backgrounds: readonly string[]
  readonly styles: readonly string[]
  readonly countMax: number
  readonly isSingle: boolean
  readonly streams: boolean
  readonly partialsMax: number
  readonly inputsMax: number
  /** Of one image, by quality. */
  readonly tokens: Readonly<Record<string, number>>
}
export type VideoFacts = {
  readonly resolutions: readonly string[]
  readonly resolutionDefault: string
  readonly ratios: readonly string[]
  readonly durations: readonly number[]
  readonly durationDefault: number
  readonly choosesDuration: boolean
  readonly audio: 'never' | 'optional' | 'always'
  readonly audioDefault: boolean
  readonly frames: 'none' | 'first' | 'first_last'
  readonly referenceImagesMax: number
  readonly referenceVideosMax: number
  readonly referenceAudiosMax: number
  readonly mixesFramesWithReferences: boolean
  readonly takesAudioAlone: boolean
  readonly webSearch: boolean
  readonly watermark: boolean
  readonly seed: boolean
  readonly promptCharsMax: number
  readonly fps: number
  readonly inputVideoSecondsMax: number
  /** Whether anybody enlarges what it makes; and who, which operators alone are told. */
  readonly upscales: boolean
  readonly upscaler?: string
}
export type ModelFacts = {
  readonly id: string
  readonly kind: ModelKind
  readonly owned_by: string
  readonly context_tokens: number | null
  readonly output_tokens_max: number | null
  readonly dimensions: number | null
  readonly dimensions_adjustable: boolean
  readonly takes_media: boolean
  readonly takes_pictures: boolean
  readonly image: ImageFacts | null
  readonly video: VideoFacts | null
  readonly price: PriceCard
  readonly created_at: string
}
export type Model = ModelFacts & { readonly available: boolean }
/** What whoever is not signed in is shown of it. */
export type PublicModel = Omit<Model, 'owned_by' | 'created_at'>

export type ModelFilter = { readonly kind?: string; readonly q?: string }

export const modelsQuery = (account: string, wanted: ModelFilter) =>
  listQuery<Model>('models', path`accounts/${account}/models`, wanted)

/** All models of a kind, with what can be asked of each. */
export const modelsOfKindQuery = (account: string, kind: ModelKind) =>
  queryOptions({
    queryKey: ['models', account, kind],
    queryFn: () => wholeList<Model>(path`accounts/${account}/models`, { kind }),
    staleTime: 60_000,
  })
