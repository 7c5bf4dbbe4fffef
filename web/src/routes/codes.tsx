import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Code } from '../lib/api-types.gen.ts'
import { codesQuery } from '../features/codes/api.ts'
import { MakeCodes } from '../features/codes/make-codes.tsx'
import { VoidCode } from '../features/codes/void-code.tsx'
import { useT } from '../lib/language.ts'
import { columnOf } from '../lib/money.ts'
import { useRows } from '../lib/lists.ts'
import { only } from '../lib/search.ts'
import { ListFoot } from '../parts/list-foot.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'
import { Ago, Money, Nothing, Status, Time } from '../ui/text.tsx'

const states = ['open', 'redeemed', 'voided', 'expired'] as const

export function CodesPage() {
  const t = useT()
  const { dialog, q, state } = useSearch({ from: '/inside/operator/codes' })
  const navigate = useNavigate({ from: '/operator/codes' })
  const filter = only({ q, state: states.find((one) => one === state) })
  const list = useRows(codesQuery(filter))
  const { rows: codes, error, refetch } = list
  const isFiltered = q !== undefined || filter.state !== undefined
  const make = (
    <Button kind="primary" icon="plus" onClick={() => void navigate({ search: { ...filter, dialog: 'new' } })}>
      {t('codes.make')}
    </Button>
  )
  return (
    <>
      <PageHead title={t('nav.codes')} hint={t('codes.hint')}>
        <SearchField
          name={t('codes.search')}
          value={q}
          lookUpAt="secrets/lookup"
          onSearch={(next) => void navigate({ search: only({ ...filter, q: next }), replace: true })}
        />
        <Select
          name={t('column.status')}
          className="!w-auto"
          value={filter.state ?? ''}
          choices={[
            { value: '', label: t('filter.anyStatus') },
            ...states.map((value) => ({ value, label: t(`codes.${value}`) })),
          ]}
          onChoose={(next) => void navigate({ search: only({ q, state: next || undefined }), replace: true })}
        />
        {make}
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!codes && !error && <Waiting />}
      {codes && (
        <Panel isFlush>
          {codes.length > 0 ? (
            <CodeTable codes={codes} />
          ) : (
            <Empty action={!isFiltered && make}>{t(isFiltered ? 'list.noneFit' : 'codes.empty')}</Empty>
          )}
        </Panel>
      )}
      <ListFoot list={list} />
      <MakeCodes open={dialog === 'new'} onClose={() => void navigate({ search: filter })} />
    </>
  )
}

const tones = { open: 'busy', redeemed: 'good', voided: 'none', expired: 'none' } as const

function CodeTable({ codes }: { readonly codes: readonly Code[] }) {
  const t = useT()
  const [voiding, setVoiding] = useState<Code>()
  const amount = columnOf(codes.map((code) => code.amount_nano_usd))
  return (
    <>
      <Table
        label={t('nav.codes')}
        rows={codes}
        keyOf={({ id }) => id}
        columns={[
          {
            key: 'code',
            head: t('billing.code'),
            cell: ({ code }) => <code className="font-mono text-xs whitespace-nowrap">{code}</code>,
          },
          {
            key: 'state',
            head: t('column.status'),
            cell: ({ state }) => <Status tone={tones[state]}>{t(`codes.${state}`)}</Status>,
          },
          {
            key: 'amount',
            head: t('column.amount'),
            align: 'right',
            cell: (code) => <Money amount={code.amount_nano_usd} show={amount} />,
          },
          {
            key: 'note',
            head: t('codes.note'),
            isOptional: true,
            className: 'max-w-56 truncate',
            cell: ({ note }) => (note ? <span title={note}>{note}</span> : <Nothing />),
          },
          { key: 'created', head: t('column.created'), isOptional: true, cell: (code) => <Ago at={code.created_at} /> },
          {
            key: 'expires',
            head: t('codes.expires'),
            isOptional: true,
            cell: ({ expires_at: at }) => (at ? <Time at={at} shape="dayOnly" /> : <Nothing />),
          },
          {
            key: 'by',
            head: t('codes.by'),
            isOptional: true,
            cell: (code) => <Redeemed code={code} />,
          },
          {
            key: 'do',
            head: <span className="sr-only">{t('column.do')}</span>,
            align: 'right',
            cell: (code) => code.state === 'open' && <VoidButton code={code} onVoid={() => setVoiding(code)} />,
          },
        ]}
      />
      <VoidCode code={voiding} onClose={() => setVoiding(undefined)} />
    </>
  )
}

function Redeemed({ code: { redeemed_by: by, redeemed_at: at } }: { readonly code: Code }) {
  if (!by) return <Nothing />
  return (
    <Link to="/operator/accounts" search={{ open: by }} className="underline hover:text-accent">
      <Ago at={at} />
    </Link>
  )
}

function VoidButton({ code, onVoid }: { readonly code: Code; readonly onVoid: () => void }) {
  const t = useT()
  return (
    <Button
      kind="quiet_danger"
      className="-my-1 -mr-2 !px-2 align-middle"
      aria-label={`${t('codes.void')} ${code.code}`}
      onClick={onVoid}
    >
      {t('codes.void')}
    </Button>
  )
}
