import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import { api, path, type Page } from '../../lib/api.ts'
import { useT } from '../../lib/i18n/language.ts'
import { modelsQuery } from '../../lib/models.ts'
import { providerIdsQuery } from '../../lib/providers.ts'
import { ranges } from '../../lib/ranges.ts'
import type { RequestFilters } from '../../lib/request-filters.ts'
import { endpoints, outcomes } from '../../lib/requests.ts'
import { isOperator, useMe } from '../../lib/session.ts'
import { useShow } from '../../lib/show.ts'
import { REFUSED } from './refused.ts'
import { Button } from '../../ui/button.tsx'
import { Select, type Choice } from '../../ui/field.tsx'

type Props = {
  readonly account: string
  readonly filters: RequestFilters
  /** What makes the new filters of those there are by then: two choices in quick succession both hold. */
  readonly onChange: (change: (filters: RequestFilters) => RequestFilters) => void
}

/** Beside each other, on a phone two in a row. */
const row = 'mb-3 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:[&>*]:!w-auto [&>*]:max-w-full'
/** As wide before its names are there as with them: what stands behind must not move away from under the pointer. */
const named = 'sm:min-w-44 sm:max-w-44'

export function Filters({ account, filters, onChange }: Props) {
  const t = useT()
  const seesProviders = isOperator(useMe())
  const { names, ask } = useNames(account, seesProviders)
  const span = useSpan(filters)
  const any = { value: '', label: '' }
  const choose = (name: keyof RequestFilters) => (value: string) => onChange((before) => changed(before, name, value))
  const list = (name: 'model' | 'key' | 'provider', all: readonly Choice[]): readonly Choice[] => {
    const value = filters[name]
    const known = value === undefined || all.some((one) => one.value === value)
    return known ? all : [...all, { value: value, label: value }]
  }
  return (
    <div className={row} onFocus={ask} onPointerEnter={ask}>
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
      <Select
        name={t('column.model')}
        value={filters.model ?? ''}
        className={named}
        choices={[{ ...any, label: t('filter.anyModel') }, ...list('model', names.models)]}
        onChoose={choose('model')}
      />
      <Select
        name={t('column.key')}
        value={filters.key ?? ''}
        className={named}
        choices={[{ ...any, label: t('filter.anyKey') }, ...list('key', names.keys)]}
        onChoose={choose('key')}
      />
      <Select
        name={t('column.endpoint')}
        value={filters.endpoint ?? ''}
        choices={[{ ...any, label: t('filter.anyEndpoint') }, ...endpoints.map((value) => ({ value, label: value }))]}
        onChoose={choose('endpoint')}
      />
      {seesProviders && (
        <Select
          name={t('routing.provider')}
          value={filters.provider ?? ''}
          className={named}
          choices={[{ ...any, label: t('filter.anyProvider') }, ...list('provider', names.providers)]}
          onChoose={choose('provider')}
        />
      )}
      <Bounds filters={filters} choose={choose} />
      <FindRequest account={account} filters={filters} />
      {Object.keys(filters).length > 0 && (
        <Button kind="quiet" icon="cross" className="justify-self-start" onClick={() => onChange(() => ({}))}>
          {t('filter.clear')}
        </Button>
      )}
    </div>
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

/** Two times, as a bar of a chart leads here: one more choice as long as it holds. */
function useSpan({ from, to }: RequestFilters): string | undefined {
  const show = useShow()
  if (from === undefined && to === undefined) return undefined
  return [from, to].map((at) => (at === undefined || Number.isNaN(Date.parse(at)) ? '…' : show.time(at))).join(' – ')
}

/** A range and two times do not go together: the one chosen last holds. */
function changed(before: RequestFilters, name: keyof RequestFilters, value: string): RequestFilters {
  const dropped: readonly string[] = name === 'range' ? ['range', 'from', 'to'] : [name]
  const kept: RequestFilters = Object.fromEntries(Object.entries(before).filter(([other]) => !dropped.includes(other)))
  return value === '' ? kept : { ...kept, [name]: value }
}

/** Names are asked for when somebody is about to choose one: a page needs no more than its own rows. */
function useNames(account: string, seesProviders: boolean) {
  const [isAsked, setAsked] = useState(false)
  const { data: models } = useQuery({ ...modelsQuery(account), enabled: isAsked })
  const { data: keys } = useQuery({
    queryKey: ['keys', account],
    queryFn: () =>
      api.get<Page<{ readonly id: string; readonly name: string }>>(path`accounts/${account}/keys`, { limit: 200 }),
    enabled: isAsked,
  })
  const { data: providers } = useQuery({ ...providerIdsQuery, enabled: isAsked && seesProviders })
  const names = {
    providers: providers?.map((id) => ({ value: id, label: id })) ?? [],
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
      {/* Of a number, what it bounds is said beside it. As wide without one: what is clicked next must not move. */}
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

/** An id leads straight to its request. */
function FindRequest({ account, filters }: Pick<Props, 'account' | 'filters'>) {
  const t = useT()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const go = (event: SyntheticEvent): void => {
    event.preventDefault()
    const request = text.trim()
    if (!/^[\w-]{1,100}$/.test(request)) return
    setText('')
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
