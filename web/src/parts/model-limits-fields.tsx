/** Limits of single models, of a key or an account. */
import type { Limits } from '../lib/api-types.gen.ts'
import { useT } from '../lib/language.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'

const counts = ['requests_per_minute', 'tokens_per_minute', 'concurrent_requests'] as const
const labels = {
  requests_per_minute: 'limit.requests',
  tokens_per_minute: 'limit.tokens',
  concurrent_requests: 'limit.concurrent',
} as const

/** As typed. */
export type ModelLimitsDraft = Readonly<Record<'name' | (typeof counts)[number], string>>

const empty: ModelLimitsDraft = { name: '', requests_per_minute: '', tokens_per_minute: '', concurrent_requests: '' }

export const modelDraftsOf = (models: Limits['models'] = {}): readonly ModelLimitsDraft[] =>
  Object.entries(models).map(([name, limits]) => ({
    name,
    requests_per_minute: limits.requests_per_minute?.toString() ?? '',
    tokens_per_minute: limits.tokens_per_minute?.toString() ?? '',
    concurrent_requests: limits.concurrent_requests?.toString() ?? '',
  }))

const isCount = (text: string): boolean => text.trim() === '' || /^[1-9]\d{0,11}$/.test(text.trim())
const valueOf = (text: string): number | null => (text.trim() === '' ? null : Number(text))

/** The limits in the form of the API. Null: a model of `before` that is gone. Undefined: a typed value is invalid. */
export function modelLimitsOf(drafts: readonly ModelLimitsDraft[], before: readonly string[]): object | undefined {
  const names = drafts.map(({ name }) => name.trim())
  const isRight = drafts.every((draft) => counts.every((count) => isCount(draft[count])))
  if (!isRight || names.includes('') || new Set(names).size < names.length) return undefined
  const stated = drafts.map((draft) => [
    draft.name.trim(),
    Object.fromEntries(counts.map((count) => [count, valueOf(draft[count])])),
  ])
  const gone = before.filter((name) => !names.includes(name)).map((name) => [name, null])
  return Object.fromEntries([...gone, ...stated]) as object
}

type Props = {
  readonly drafts: readonly ModelLimitsDraft[]
  readonly onChange: (drafts: readonly ModelLimitsDraft[]) => void
}

export function ModelLimitsFields({ drafts, onChange }: Props) {
  const t = useT()
  const set = (at: number, change: Partial<ModelLimitsDraft>): void =>
    onChange(drafts.map((draft, other) => (other === at ? { ...draft, ...change } : draft)))
  return (
    <div className="space-y-3">
      {drafts.map((draft, at) => (
        <fieldset key={at} className="grid gap-3 rounded-md border p-3 sm:grid-cols-2">
          <TextField
            label={t('column.model')}
            value={draft.name}
            onChange={(event) => set(at, { name: event.target.value })}
            required
          />
          {counts.map((count) => (
            <TextField
              key={count}
              label={t(labels[count])}
              value={draft[count]}
              inputMode="numeric"
              placeholder={t('limit.none')}
              error={isCount(draft[count]) ? undefined : t('limit.badCount')}
              onChange={(event) => set(at, { [count]: event.target.value })}
            />
          ))}
          <IconButton
            icon="cross"
            label={t('limit.removeModel', { name: draft.name })}
            onClick={() => onChange(drafts.filter((_, other) => other !== at))}
          />
        </fieldset>
      ))}
      <Button onClick={() => onChange([...drafts, empty])}>{t('limit.addModel')}</Button>
    </div>
  )
}
