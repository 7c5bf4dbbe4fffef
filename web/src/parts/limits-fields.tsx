/** The limits of a key or an account. An empty field is no limit. */
import type { Limits } from '../lib/api-types.gen.ts'
import { useT, type Key } from '../lib/language.ts'
import { asTyped, nanoOf, typedDollars } from '../lib/money.ts'
import { TextField } from '../ui/field.tsx'
import { modelDraftsOf, modelLimitsOf, ModelLimitsFields, type ModelLimitsDraft } from './model-limits-fields.tsx'

const counts = ['requests_per_minute', 'tokens_per_minute', 'concurrent_requests'] as const
const amounts = ['spend_per_day_nano_usd', 'spend_per_month_nano_usd'] as const
type Name = (typeof counts)[number] | (typeof amounts)[number]

/** Limits as typed. `before`: the models that had limits. */
export type LimitsDraft = Readonly<Record<Name, string>> & {
  readonly models: readonly ModelLimitsDraft[]
  readonly before: readonly string[]
}

export const draftOf = (limits: Limits | undefined): LimitsDraft => ({
  requests_per_minute: limits?.requests_per_minute?.toString() ?? '',
  tokens_per_minute: limits?.tokens_per_minute?.toString() ?? '',
  concurrent_requests: limits?.concurrent_requests?.toString() ?? '',
  spend_per_day_nano_usd: limits?.spend_per_day_nano_usd ? asTyped(limits.spend_per_day_nano_usd) : '',
  spend_per_month_nano_usd: limits?.spend_per_month_nano_usd ? asTyped(limits.spend_per_month_nano_usd) : '',
  models: modelDraftsOf(limits?.models),
  before: Object.keys(limits?.models ?? {}),
})

const isCount = (name: Name): boolean => counts.some((count) => count === name)
const isRight = (name: Name, text: string): boolean =>
  text.trim() === '' || (isCount(name) ? /^[1-9]\d{0,11}$/.test(text.trim()) : typedDollars(text) !== undefined)

/** Limits in the form of the API. Undefined: a typed value is invalid. */
export function limitsOf(draft: LimitsDraft): Limits | undefined {
  const names = [...counts, ...amounts]
  if (!names.every((name) => isRight(name, draft[name]))) return undefined
  const value = (name: Name): number | string | null => {
    const text = draft[name].trim()
    if (text === '') return null
    return isCount(name) ? Number(text) : nanoOf(typedDollars(text) ?? '0').toString()
  }
  const models = modelLimitsOf(draft.models, draft.before)
  return models && ({ ...Object.fromEntries(names.map((name) => [name, value(name)])), models } as unknown as Limits)
}

const labels: Readonly<Record<Name, Key>> = {
  spend_per_day_nano_usd: 'limit.day',
  spend_per_month_nano_usd: 'limit.month',
  requests_per_minute: 'limit.requests',
  tokens_per_minute: 'limit.tokens',
  concurrent_requests: 'limit.concurrent',
}

export function LimitsFields({
  draft,
  onChange,
}: {
  readonly draft: LimitsDraft
  readonly onChange: (draft: LimitsDraft) => void
}) {
  const t = useT()
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {[...amounts, ...counts].map((name) => (
        <TextField
          key={name}
          label={t(labels[name])}
          value={draft[name]}
          inputMode={isCount(name) ? 'numeric' : 'decimal'}
          placeholder={t('limit.none')}
          error={isRight(name, draft[name]) ? undefined : t(isCount(name) ? 'limit.badCount' : 'limit.badAmount')}
          onChange={(event) => onChange({ ...draft, [name]: event.target.value })}
        />
      ))}
      <div className="sm:col-span-2">
        <ModelLimitsFields drafts={draft.models} onChange={(models) => onChange({ ...draft, models })} />
      </div>
    </div>
  )
}
