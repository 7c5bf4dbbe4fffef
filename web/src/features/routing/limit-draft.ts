/** The limits and abilities of a model as typed. An empty field: no limit, or the default. */
import type { RoutedModel } from '../../lib/api-types.gen.ts'
import type { Key } from '../../lib/language.ts'
import type { ModelKind } from '../../lib/models.ts'

export type LimitField = {
  readonly name: string
  readonly label: Key
  /** `list`: words separated by commas. `counts`: numbers separated by commas. `choice`: one of `choices`. */
  readonly type: 'count' | 'word' | 'list' | 'counts' | 'choice'
  readonly choices?: readonly string[]
}
export type LimitDraft = {
  readonly typed: Readonly<Record<string, string>>
  /** The family of an image or video model. Empty: its abilities stay. */
  readonly family: string
  readonly adjustable: boolean
}
export const noLimits: LimitDraft = { typed: {}, family: 'open', adjustable: false }

const context = { name: 'context_tokens', label: 'models.context', type: 'count' } as const
const answerCache = { name: 'answer_cache_seconds', label: 'routing.answerCache', type: 'count' } as const
const patience = { name: 'first_event_timeout_ms', label: 'routing.firstEvent', type: 'count' } as const

/** Of all accounts together. */
const rates: readonly LimitField[] = [
  { name: 'requests_per_minute', label: 'limit.requests', type: 'count' },
  { name: 'tokens_per_minute', label: 'limit.tokens', type: 'count' },
  { name: 'concurrent_requests', label: 'limit.concurrent', type: 'count' },
]
const routing = {
  name: 'routing',
  label: 'routing.policy',
  type: 'choice',
  choices: ['weighted', 'latency', 'cost', 'balanced'],
} as const
const sticky = {
  name: 'sticky',
  label: 'routing.sticky',
  type: 'choice',
  choices: ['off', 'named', 'opening'],
} as const

const hedging = { name: 'hedging', label: 'prices.limit.hedging', type: 'choice', choices: ['off', 'on'] } as const

type KindFields = Readonly<Partial<Record<ModelKind, readonly LimitField[]>>>

/**
 * Limits of the model. An answer that is not streamed needs no timeout of its first event: the one of the whole answer
 * covers it.
 */
const limitFields: KindFields = {
  text: [
    context,
    { name: 'output_tokens_max', label: 'models.longest', type: 'count' },
    { name: 'output_tokens_default', label: 'routing.usualOutput', type: 'count' },
    patience,
    answerCache,
    routing,
    sticky,
    hedging,
  ],
  embedding: [
    context,
    { name: 'dimensions', label: 'models.dimensions', type: 'count' },
    answerCache,
    routing,
    hedging,
  ],
  image: [routing],
  video: [routing],
}
/** Abilities that differ from those of the family. */
const abilityFields: KindFields = {
  image: [
    { name: 'sizes', label: 'models.sizes', type: 'list' },
    { name: 'qualities', label: 'routing.qualities', type: 'list' },
    { name: 'n_max', label: 'routing.imagesMax', type: 'count' },
    { name: 'edit_images_max', label: 'routing.editMax', type: 'count' },
  ],
  video: [
    { name: 'resolutions', label: 'routing.resolutions', type: 'list' },
    { name: 'ratios', label: 'routing.ratios', type: 'list' },
    { name: 'durations', label: 'routing.durations', type: 'counts' },
    { name: 'upscaler', label: 'routing.upscaler', type: 'word' },
  ],
}

export const limitFieldsOf = (kind: ModelKind): readonly LimitField[] => [...(limitFields[kind] ?? []), ...rates]
export const abilityFieldsOf = (kind: ModelKind): readonly LimitField[] => abilityFields[kind] ?? []

type Limits =
  | 'context_tokens'
  | 'output_tokens_max'
  | 'output_tokens_default'
  | 'first_event_timeout_ms'
  | 'requests_per_minute'
  | 'tokens_per_minute'
  | 'concurrent_requests'
  | 'answer_cache_seconds'
  | 'dimensions'
  | 'dimensions_adjustable'
  | 'routing'
  | 'sticky'
  | 'hedging'
type Before = Pick<RoutedModel, 'kind' | 'video' | Limits>

export function limitDraftOf({ kind, dimensions_adjustable: adjustable, video, ...limits }: Before): LimitDraft {
  // A change of the family keeps the upscaler, unless it is removed.
  const known: Readonly<Record<string, number | string | null | undefined>> = { ...limits, upscaler: video?.upscaler }
  const typed = [...limitFieldsOf(kind), ...abilityFieldsOf(kind)].flatMap(({ name }): [string, string][] => {
    const value = known[name] ?? null
    return value === null ? [] : [[name, String(value)]]
  })
  return { typed: Object.fromEntries(typed), family: '', adjustable }
}

const partsOf = (typed: string): readonly string[] =>
  typed
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

function valueOf({ type }: LimitField, typed: string): unknown {
  switch (type) {
    case 'count':
      return Number(typed)
    case 'word':
    case 'choice':
      return typed.trim()
    case 'list':
      return partsOf(typed)
    case 'counts':
      return partsOf(typed).map(Number)
  }
}

/** The changed fields. Null: the field was emptied. */
const changed = (fields: readonly LimitField[], draft: LimitDraft, before: LimitDraft): object =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const [text = '', old = ''] = [draft, before].map(({ typed }) => typed[field.name]?.trim())
      return text === old ? [] : [[field.name, text === '' ? null : valueOf(field, text)]]
    }),
  )

/** The changes in the form of the API. Abilities are sent whole. */
export const limitsOf = (draft: LimitDraft, kind: ModelKind, before = noLimits): object => ({
  ...changed(limitFieldsOf(kind), draft, before),
  ...(kind === 'embedding' && draft.adjustable !== before.adjustable
    ? { dimensions_adjustable: draft.adjustable }
    : {}),
  ...((kind === 'image' || kind === 'video') && draft.family !== ''
    ? { [kind]: { family: draft.family, ...changed(abilityFieldsOf(kind), draft, noLimits) } }
    : {}),
})
