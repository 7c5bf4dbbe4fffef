/** Narrowing a list of models: by what they make, and by a part of the id. */
import { useT } from '../../lib/i18n/language.ts'
import { modelKinds, type PublicModel } from '../../lib/models.ts'
import { Segments } from '../../ui/field.tsx'

export type ModelFilter = { readonly kind: string | undefined; readonly q: string | undefined }

export const fitting = <M extends Pick<PublicModel, 'id' | 'kind'>>(
  models: readonly M[],
  { kind, q = '' }: ModelFilter,
): readonly M[] =>
  models.filter(
    (model) => (kind === undefined || model.kind === kind) && model.id.toLowerCase().includes(q.toLowerCase()),
  )

type Props = ModelFilter & {
  readonly models: readonly PublicModel[] | undefined
  readonly onChange: (filter: ModelFilter) => void
}

export function ModelFilters({ models, kind, q, onChange }: Props) {
  const t = useT()
  const kinds = modelKinds.filter((one) => models?.some((other) => other.kind === one))
  return (
    <>
      <Segments
        name={t('models.kind')}
        value={kind ?? 'all'}
        choices={[
          { value: 'all', label: t('modelChoice.all') },
          ...kinds.map((value) => ({ value, label: t(`kind.${value}`) })),
        ]}
        onChoose={(value) => onChange({ kind: value === 'all' ? undefined : value, q })}
      />
      <input
        type="search"
        className="field !w-48"
        aria-label={t('modelChoice.filter')}
        placeholder={t('modelChoice.filter')}
        value={q ?? ''}
        onChange={(event) => onChange({ kind, q: event.target.value || undefined })}
      />
    </>
  )
}
