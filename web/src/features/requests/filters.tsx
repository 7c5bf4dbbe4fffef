import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import { endpoints, type ApiKey } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { keyChoices, modelChoices, providerChoices } from '../../lib/choices.ts'
import { useT } from '../../lib/language.ts'
import { ranges } from '../../lib/ranges.ts'
import type { RequestFilters } from '../../lib/request-filters.ts'
import { outcomes } from '../../lib/requests.ts'
import { isOperator, useMe } from '../../lib/session.ts'
import { secretIn } from '../../lib/secrets.ts'
import { useShow } from '../../lib/show.ts'
import { lateFilters, REFUSED } from './refused.ts'
import { Picker } from '../../parts/picker.tsx'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'

type Props = {
  readonly account: string
  readonly filters: RequestFilters
  /** Derives the new filters from the current ones, so that two quick choices are both kept. */
  readonly onChange: (change: (filters: RequestFilters) => RequestFilters) => void
}

/** Filters are side by side. A phone shows two per row. */
const row = 'mb-3 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:[&>*]:!w-auto [&>*]:max-w-full'
/** The width does not change when the names are loaded, so that later controls do not move under the pointer. */
const named = 'sm:min-w-44 sm:max-w-44'

export function Filters({ account, filters, onChange }: Props) {
  const t = useT()
  const seesProviders = isOperator(useMe())
  const span = useSpan(filters)
  const isRefused = filters.outcome === REFUSED
  const any = { value: '', label: '' }
  const choose = (name: keyof RequestFilters) => (value: string) => onChange((before) => changed(before, name, value))
  const keyName = useKeyName(account, filters.key)
  const anyOf = (words: 'filter.anyModel' | 'filter.anyKey') => [{ ...any, label: t(words) }]
  return (
    <div className={row}>
      <Select
        name={t('range.name')}
        value={span === undefined ? (filters.range ?? '') : SPAN}
        className={span === undefined ? undefined : 'max-sm:col-span-2'}
        choices={[
          { ...any, label: t('filter.anyTime') },
          ...ranges.map((value) => ({ value, label: t(`range.${value}`) })),
          ...(span === undefined ? [] : [{ value: SPAN, label: span }]),
        ]}
        onChoose={choose('range')}
      />
      <Select
        name={t('column.status')}
        value={filters.outcome ?? ''}
        choices={[
          { ...any, label: t('filter.anyStatus') },
          ...[...outcomes, REFUSED].map((value) => ({ value, label: t(`outcome.${value}`) })),
        ]}
        onChoose={choose('outcome')}
      />
      <Picker
        name={t('column.model')}
        value={filters.model ?? ''}
        shown={filters.model ?? t('filter.anyModel')}
        className={named}
        always={anyOf('filter.anyModel')}
        query={modelChoices(account)}
        onChoose={choose('model')}
      />
      <Picker
        name={t('column.key')}
        value={filters.key ?? ''}
        shown={keyName ?? t('filter.anyKey')}
        className={named}
        always={anyOf('filter.anyKey')}
        query={keyChoices(account)}
        onChoose={choose('key')}
      />
      <Select
        name={t('column.endpoint')}
        value={filters.endpoint ?? ''}
        choices={[{ ...any, label: t('filter.anyEndpoint') }, ...endpoints.map((value) => ({ value, label: value }))]}
        onChoose={choose('endpoint')}
      />
      {seesProviders && !isRefused && <ProviderFilter value={filters.provider} onChoose={choose('provider')} />}
      {!isRefused && <Bounds filters={filters} choose={choose} />}
      <FindRequest account={account} filters={filters} />
      {Object.keys(filters).length > 0 && (
        <Button kind="quiet" icon="cross" className="justify-self-start" onClick={() => onChange(() => ({}))}>
          {t('filter.clear')}
        </Button>
      )}
    </div>
  )
}

type ProviderFilterProps = { readonly value: string | undefined; readonly onChoose: (value: string) => void }

function ProviderFilter({ value, onChoose }: ProviderFilterProps) {
  const t = useT()
  return (
    <Picker
      name={t('routing.provider')}
      value={value ?? ''}
      shown={value ?? t('filter.anyProvider')}
      className={named}
      always={[{ value: '', label: t('filter.anyProvider') }]}
      query={providerChoices}
      onChoose={onChoose}
    />
  )
}

type BoundsProps = Pick<Props, 'filters'> & {
  readonly choose: (name: keyof RequestFilters) => (value: string) => void
}

function Bounds({ filters, choose }: BoundsProps) {
  const t = useT()
  return (
    <>
      <Least
        label={t('filter.minCost')}
        value={filters.min_cost}
        onChange={choose('min_cost')}
        pattern="\$?\d+(\.\d+)?"
      />
      <Least label={t('filter.minMs')} value={filters.min_ms} onChange={choose('min_ms')} pattern="\d+" />
    </>
  )
}

const SPAN = 'span'

/** Two times, set by a bar of a chart. They are one more choice while they apply. */
function useSpan({ from, to }: RequestFilters): string | undefined {
  const show = useShow()
  if (from === undefined && to === undefined) return undefined
  return [from, to].map((at) => (at === undefined || Number.isNaN(Date.parse(at)) ? '…' : show.time(at))).join(' – ')
}

/** A range and two times exclude each other: the last choice applies. Refused requests lack the later filters. */
function changed(before: RequestFilters, name: keyof RequestFilters, value: string): RequestFilters {
  const late: readonly string[] = name === 'outcome' && value === REFUSED ? lateFilters : []
  const dropped: readonly string[] = name === 'range' ? ['range', 'from', 'to'] : [name, ...late]
  const kept: RequestFilters = Object.fromEntries(Object.entries(before).filter(([other]) => !dropped.includes(other)))
  return value === '' ? kept : { ...kept, [name]: value }
}

/** The name of the filtered key, or its id until the name is loaded. */
function useKeyName(account: string, id: string | undefined): string | undefined {
  const { data } = useQuery({
    queryKey: ['key', id],
    queryFn: () => api.get<ApiKey>(path`accounts/${account}/keys/${id ?? ''}`),
    enabled: id !== undefined,
  })
  return id !== undefined && data?.id === id ? data.name : id
}

type LeastProps = {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string) => void
  readonly pattern: string
}

/** A lower bound. It applies on Enter or when the field loses the focus. */
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
      {/* The label of a number is beside it. The width is fixed, so that the next control does not move. */}
      <label className="field flex items-center gap-1.5 sm:!w-44">
        {value !== undefined && <span className="shrink-0 text-soft">{label}</span>}
        <input
          className="w-full min-w-0 bg-transparent outline-none"
          title={label}
          aria-label={label}
          placeholder={value === undefined ? label : undefined}
          inputMode="decimal"
          pattern={pattern}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onBlur={take}
        />
      </label>
    </form>
  )
}

/** An id opens its request. */
function FindRequest({ account, filters }: Pick<Props, 'account' | 'filters'>) {
  const t = useT()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const go = (event: SyntheticEvent): void => {
    event.preventDefault()
    const request = text.trim()
    setText('')
    // A key consists of the letters of an id. It must not get into the URL.
    if (!/^[\w-]{1,100}$/.test(request) || secretIn(request) !== undefined) return
    void navigate({ to: '/a/$account/requests/$request', params: { account, request }, search: filters })
  }
  return (
    <form onSubmit={go}>
      <input
        className="field sm:!w-40"
        type="search"
        aria-label={t('filter.id')}
        placeholder={t('filter.id')}
        pattern="\s*[\w\-]{1,100}\s*"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  )
}
