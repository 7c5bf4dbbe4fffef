/** What a model can do and within which bounds, as it is typed. Nothing typed: as before, or as is usual. */
import type { Key } from '../../lib/i18n/language.ts'
import type { ModelFacts, ModelKind } from '../../lib/models.ts'

export type LimitField = {
  readonly name: string
  readonly label: Key
  /** `list`: words with commas between them; `counts`: numbers. */
  readonly type: 'count' | 'word' | 'list' | 'counts'
}
export type LimitDraft = {
  readonly typed: Readonly<Record<string, string>>
  /** Of an image or video model: whose abilities it has. Empty: nothing of them changes. */
  readonly family: string
  readonly adjustable: boolean
}
export const noLimits: LimitDraft = { typed: {}, family: 'open', adjustable: false }

const context = { name: 'context_tokens', label: 'models.context', type: 'count' } as const
const patience = { name: 'first_event_timeout_ms', label: 'routing.firstEvent', type: 'count' } as const

/** Of the model itself. */
export const limitFields: Readonly<Record<ModelKind, readonly LimitField[]>> = {
  text: [
    context,
    { name: 'output_tokens_max', label: 'models.longest', type: 'count' },
    { name: 'output_tokens_default', label: 'routing.usualOutput', type: 'count' },
    patience,
  ],
  embedding: [context, { name: 'dimensions', label: 'models.dimensions', type: 'count' }],
  // Its whole answer is waited for, as long as for any that is not streamed.
  image: [],
  video: [],
}
/** Of its abilities, where they differ from the family's. */
export const abilityFields: Readonly<Record<ModelKind, readonly LimitField[]>> = {
  text: [],
  embedding: [],
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

type Before = Pick<
  ModelFacts,
  'kind' | 'context_tokens' | 'output_tokens_max' | 'dimensions' | 'dimensions_adjustable' | 'video'
>

export function limitDraftOf({ kind, dimensions_adjustable: adjustable, video, ...facts }: Before): LimitDraft {
  const { context_tokens, output_tokens_max, dimensions } = facts
  // Of another family the upscaler is the same, unless it is taken out.
  const known = { context_tokens, output_tokens_max, dimensions, upscaler: video?.upscaler ?? null }
  const fields = [...limitFields[kind], ...abilityFields[kind]]
  const shown = Object.entries(known).filter(
    ([name, value]) => value !== null && fields.some((field) => field.name === name),
  )
  return { typed: Object.fromEntries(shown.map(([name, value]) => [name, String(value)])), family: '', adjustable }
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
      return typed.trim()
    case 'list':
      return partsOf(typed)
    case 'counts':
      return partsOf(typed).map(Number)
  }
}

const said = (fields: readonly LimitField[], { typed }: LimitDraft): object =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const text = typed[field.name] ?? ''
      return text.trim() === '' ? [] : [[field.name, valueOf(field, text)]]
    }),
  )

/** As the API takes them. */
export const limitsOf = (draft: LimitDraft, kind: ModelKind): object => ({
  ...said(limitFields[kind], draft),
  ...(kind === 'embedding' ? { dimensions_adjustable: draft.adjustable } : {}),
  ...((kind === 'image' || kind === 'video') && draft.family !== ''
    ? { [kind]: { family: draft.family, ...said(abilityFields[kind], draft) } }
    : {}),
})
