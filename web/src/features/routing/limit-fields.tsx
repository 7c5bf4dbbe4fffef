/** The limits and abilities of a model. */
import { useQuery } from '@tanstack/react-query'
import { useT } from '../../lib/language.ts'
import type { ModelKind } from '../../lib/models.ts'
import { Checkbox, SelectField, TextField } from '../../ui/field.tsx'
import { abilityFieldsOf, limitFieldsOf, type LimitDraft, type LimitField } from './limit-draft.ts'
import { familiesQuery } from './api.ts'

type Props = {
  readonly draft: LimitDraft
  readonly kind: ModelKind
  /** The model exists already, so its abilities may stay unchanged. */
  readonly isThere: boolean
  readonly onChange: (draft: LimitDraft) => void
}

export function LimitFields({ draft, kind, isThere, onChange }: Props) {
  const t = useT()
  const { data: families } = useQuery(familiesQuery)
  const known = kind === 'image' ? families?.image_families : families?.video_families
  const choice = (one: LimitField) => (
    <SelectField
      key={one.name}
      label={t(one.label)}
      value={draft.typed[one.name] ?? ''}
      choices={[
        { value: '', label: t('routing.usual') },
        ...(one.choices ?? []).map((value) => ({ value, label: value })),
      ]}
      onChoose={(value) => onChange({ ...draft, typed: { ...draft.typed, [one.name]: value } })}
    />
  )
  const field = (one: LimitField) =>
    one.type === 'choice' ? (
      choice(one)
    ) : (
      <TextField
        key={one.name}
        label={t(one.label)}
        hint={one.type === 'list' || one.type === 'counts' ? t('routing.commas') : undefined}
        inputMode={one.type === 'count' ? 'numeric' : undefined}
        pattern={one.type === 'count' ? '\\d*' : undefined}
        value={draft.typed[one.name] ?? ''}
        onChange={(event) => onChange({ ...draft, typed: { ...draft.typed, [one.name]: event.target.value } })}
      />
    )
  const hasAbilities = kind === 'image' || kind === 'video'
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {limitFieldsOf(kind).length > 0 && <p className="text-xs text-soft sm:col-span-2">{t('routing.noLimit')}</p>}
      {limitFieldsOf(kind).map(field)}
      {kind === 'embedding' && (
        <Checkbox
          label={t('routing.adjustable')}
          checked={draft.adjustable}
          onChange={(event) => onChange({ ...draft, adjustable: event.target.checked })}
        />
      )}
      {hasAbilities && (
        <SelectField
          label={t('routing.family')}
          hint={t(kind === 'video' ? 'routing.familyHint.video' : 'routing.familyHint')}
          value={draft.family}
          choices={[
            ...(isThere ? [{ value: '', label: t('routing.asBefore') }] : []),
            ...(known ?? ['open']).map((value) => ({ value, label: value })),
          ]}
          onChoose={(family) => onChange({ ...draft, family })}
        />
      )}
      {hasAbilities && draft.family !== '' && abilityFieldsOf(kind).map(field)}
    </div>
  )
}
