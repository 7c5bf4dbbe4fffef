import { useQuery } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { api, path, type Page } from '../../lib/api.ts'
import { useT } from '../../lib/i18n/language.ts'
import { modelsQuery } from '../../lib/models.ts'
import { ranges } from '../../lib/ranges.ts'
import type { RequestFilters } from '../../lib/request-filters.ts'
import { endpoints, outcomes } from '../../lib/requests.ts'
import { useShow } from '../../lib/show.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Badge } from '../../ui/text.tsx'

type Props = {
  readonly account: string
  readonly filters: RequestFilters
  readonly onChange: (filters: RequestFilters) => void
}

export function Filters({ account, filters, onChange }: Props) {
  const t = useT()
  const { names, ask } = useNames(account)
  const any = { value: '', label: '' }
  const choose = (name: keyof RequestFilters) => (value: string) => {
    // A range and two times do not go together: the one chosen last holds.
    const dropped: readonly string[] = name === 'range' ? ['range', 'from', 'to'] : [name]
    const kept: RequestFilters = Object.fromEntries(
      Object.entries(filters).filter(([other]) => !dropped.includes(other)),
    )
    onChange(value === '' ? kept : { ...kept, [name]: value })
  }
  const list = (name: 'model' | 'key', all: readonly { value: string; label: string }[]) => {
    const value = filters[name]
    const known = value === undefined || all.some((one) => one.value === value)
    return known ? all : [...all, { value: value, label: value }]
  }
  return (
    <div className="mb-3 flex flex-wrap gap-2 [&>*]:!w-auto [&>*]:max-w-full" onFocus={ask} onPointerEnter={ask}>
      <Select
        name={t('range.name')}
        value={filters.range ?? ''}
        choices={[
          { ...any, label: t('filter.anyTime') },
          ...ranges.map((value) => ({ value, label: t(`range.${value}`) })),
        ]}
        onChoose={choose('range')}
      />
      <Select
        name={t('column.status')}
        value={filters.outcome ?? ''}
        choices={[
          { ...any, label: t('filter.anyStatus') },
          ...outcomes.map((value) => ({ value, label: t(`outcome.${value}`) })),
        ]}
        onChoose={choose('outcome')}
      />
      <Select
        name={t('column.model')}
        value={filters.model ?? ''}
        className="max-w-52"
        choices={[{ ...any, label: t('filter.anyModel') }, ...list('model', names.models)]}
        onChoose={choose('model')}
      />
      <Select
        name={t('column.key')}
        value={filters.key ?? ''}
        className="max-w-52"
        choices={[{ ...any, label: t('filter.anyKey') }, ...list('key', names.keys)]}
        onChoose={choose('key')}
      />
      <Select
        name={t('column.endpoint')}
        value={filters.endpoint ?? ''}
        choices={[{ ...any, label: t('filter.anyEndpoint') }, ...endpoints.map((value) => ({ value, label: value }))]}
        onChoose={choose('endpoint')}
      />
      <Least
        label={t('filter.minCost')}
        value={filters.min_cost}
        onChange={choose('min_cost')}
        pattern="\$?\d+(\.\d+)?"
      />
      <Least label={t('filter.minMs')} value={filters.min_ms} onChange={choose('min_ms')} pattern="\d+" />
      <Span filters={filters} onChange={onChange} />
      {Object.keys(filters).length > 0 && (
        <Button kind="quiet" icon="cross" onClick={() => onChange({})}>
          {t('filter.clear')}
        </Button>
      )}
    </div>
  )
}

/** Names are asked for when somebody is about to choose one: a page needs no more than its own rows. */
function useNames(account: string) {
  const [isAsked, setAsked] = useState(false)
  const { data: models } = useQuery({ ...modelsQuery(account), enabled: isAsked })
  const { data: keys } = useQuery({
    queryKey: ['keys', account],
    queryFn: () =>
      api.get<Page<{ readonly id: string; readonly name: string }>>(path`accounts/${account}/keys`, { limit: 200 }),
    enabled: isAsked,
  })
  const names = {
    models: models?.data.map(({ id }) => ({ value: id, label: id })) ?? [],
    keys: keys?.data.map(({ id, name }) => ({ value: id, label: name })) ?? [],
  }
  return { names, ask: () => setAsked(true) }
}

type LeastProps = {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string) => void
  readonly pattern: string
}

/** A lower bound; it holds when Enter is pressed or the field is left. */
function Least({ label, value, onChange, pattern }: LeastProps) {
  const [text, setText] = useState(value ?? '')
  const [before, setBefore] = useState(value)
  if (before !== value) {
    setBefore(value)
    setText(value ?? '')
  }
  const take = (): void => {
    if (text !== (value ?? '') && (text === '' || new RegExp(`^(?:${pattern})$`).test(text))) onChange(text)
  }
  return (
    <form
      onSubmit={(event: SyntheticEvent) => {
        event.preventDefault()
        take()
      }}
    >
      <input
        className="field !w-28"
        aria-label={label}
        placeholder={label}
        inputMode="decimal"
        pattern={pattern}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={take}
      />
    </form>
  )
}

/** Two times, as a bar of a chart leads here. */
function Span({ filters, onChange }: Omit<Props, 'account'>) {
  const t = useT()
  const show = useShow()
  const { from, to, ...rest } = filters
  if (from === undefined && to === undefined) return null
  const text = [from, to]
    .map((at) => (at === undefined || Number.isNaN(Date.parse(at)) ? '…' : show.time(at)))
    .join(' – ')
  return (
    <span className="inline-flex items-center gap-1">
      <Badge>{text}</Badge>
      <Button kind="quiet" onClick={() => onChange(rest)}>
        {t('filter.noSpan')}
      </Button>
    </span>
  )
}
