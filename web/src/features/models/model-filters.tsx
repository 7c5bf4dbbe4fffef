/** Filters a list of models by type and by part of the id. */
import { useT } from '../../lib/language.ts'
import { modelKinds } from '../../lib/models.ts'
import { SearchField } from '../../parts/search-field.tsx'
import { Segments } from '../../ui/field.tsx'

type ModelFilter = { readonly kind: string | undefined; readonly q: string | undefined }
type Props = ModelFilter & { readonly onChange: (filter: ModelFilter) => void }

export function ModelFilters({ kind, q, onChange }: Props) {
  const t = useT()
  return (
    <>
      <Segments
        name={t('models.kind')}
        value={kind ?? 'all'}
        choices={[
          { value: 'all', label: t('modelChoice.all') },
          ...modelKinds.map((value) => ({ value, label: t(`kind.${value}`) })),
        ]}
        onChoose={(value) => onChange({ kind: value === 'all' ? undefined : value, q })}
      />
      <SearchField name={t('modelChoice.filter')} value={q} onSearch={(next) => onChange({ kind, q: next })} />
    </>
  )
}
