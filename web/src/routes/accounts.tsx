import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import type { Account } from '../lib/api-types.gen.ts'
import { AccountView } from '../features/accounts/account-view.tsx'
import { accountListQuery, createAccount } from '../features/accounts/api.ts'
import { accountQuery } from '../lib/accounts.ts'
import { useT } from '../lib/language.ts'
import { useRows } from '../lib/lists.ts'
import { columnOf, isAmount, nanoOf, typedDollars } from '../lib/money.ts'
import { only } from '../lib/search.ts'
import { OriginBadge } from '../parts/declared.tsx'
import { DollarField } from '../parts/dollar-field.tsx'
import { ListFoot } from '../parts/list-foot.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogButtons, Drawer } from '../ui/dialog.tsx'
import { Select, TextField } from '../ui/field.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'
import { Ago, Money, Status } from '../ui/text.tsx'

const states = ['active', 'suspended'] as const

export function AccountsPage() {
  const t = useT()
  const { open, q, state, dialog } = useSearch({ from: '/inside/operator/accounts' })
  const navigate = useNavigate({ from: '/operator/accounts' })
  const filter = only({ q, state: states.find((one) => one === state) })
  const list = useRows(accountListQuery(only({ q, status: filter.state })))
  const { rows: accounts, error, refetch } = list
  const { data: opened } = useQuery({ ...accountQuery(open ?? ''), enabled: open !== undefined })
  const close = (): void => void navigate({ search: filter })
  return (
    <>
      <PageHead title={t('nav.accounts')} hint={t('accounts.hint')}>
        <SearchField
          name={t('accounts.search')}
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
            ...states.map((value) => ({ value, label: t(`account.${value}`) })),
          ]}
          onChoose={(next) => void navigate({ search: only({ q, state: next || undefined }), replace: true })}
        />
        <Button kind="primary" icon="plus" onClick={() => void navigate({ search: { ...filter, dialog: 'new' } })}>
          {t('accounts.create')}
        </Button>
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!accounts && !error && <Waiting />}
      {accounts && (
        <Panel isFlush>
          {accounts.length > 0 ? (
            <AccountTable accounts={accounts} filter={filter} />
          ) : (
            <Empty>{t('accounts.none')}</Empty>
          )}
        </Panel>
      )}
      <ListFoot list={list} />
      <Dialog open={dialog === 'new'} onClose={close} title={t('accounts.create')}>
        <NewAccount onDone={(id) => void navigate({ search: { open: id } })} onCancel={close} />
      </Dialog>
      <Drawer open={open !== undefined} onClose={close} title={opened?.id === open ? opened?.name : t('shell.account')}>
        {open !== undefined && <AccountView key={open} id={open} />}
      </Drawer>
    </>
  )
}

type TableProps = {
  readonly accounts: readonly Account[]
  readonly filter: { readonly q?: string; readonly state?: string }
}

function AccountTable({ accounts, filter }: TableProps) {
  const t = useT()
  const available = columnOf(accounts.map(({ balance }) => balance.available_nano_usd))
  const held = columnOf(accounts.map(({ balance }) => balance.held_nano_usd))
  return (
    <Table
      label={t('nav.accounts')}
      rows={accounts}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'name',
          head: t('column.name'),
          className: 'max-w-40 sm:max-w-64',
          cell: ({ id, name, origin }) => (
            <span className="flex items-center gap-2">
              <Link
                to="/operator/accounts"
                search={{ ...filter, open: id }}
                title={name}
                className="truncate font-medium hover:text-accent hover:underline"
              >
                {name}
              </Link>
              <OriginBadge origin={origin} />
            </span>
          ),
        },
        {
          key: 'status',
          head: t('column.status'),
          isOptional: true,
          cell: ({ status }) => <Status tone={status === 'active' ? 'good' : 'bad'}>{t(`account.${status}`)}</Status>,
        },
        {
          key: 'available',
          head: t('money.available'),
          align: 'right',
          cell: ({ balance }) => <Money amount={balance.available_nano_usd} show={available} />,
        },
        {
          key: 'held',
          head: t('money.held'),
          align: 'right',
          isOptional: true,
          cell: ({ balance }) => <Money amount={balance.held_nano_usd} show={held} />,
        },
        { key: 'keys', head: t('nav.keys'), align: 'right', isOptional: true, cell: (account) => account.active_keys },
        {
          key: 'created',
          head: t('column.created'),
          isOptional: true,
          cell: (account) => <Ago at={account.created_at} />,
        },
      ]}
    />
  )
}

function NewAccount({ onDone, onCancel }: { readonly onDone: (id: string) => void; readonly onCancel: () => void }) {
  const t = useT()
  const [name, setName] = useState('')
  const [amount, setAmount] = useState('')
  const dollars = typedDollars(amount)
  const isRight = isAmount(amount)
  const create = useMutation({
    mutationFn: () =>
      createAccount({
        name: name.trim(),
        ...(dollars === undefined ? {} : { balance_nano_usd: nanoOf(dollars).toString() }),
      }),
    onSuccess: ({ id }) => onDone(id),
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (isRight) create.mutate()
  }
  return (
    <form onSubmit={submit} className="space-y-3">
      {create.error && <Failure error={create.error} />}
      <TextField
        label={t('column.name')}
        value={name}
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        autoFocus
        required
      />
      <DollarField label={t('accounts.opening')} placeholder="0.00" value={amount} onType={setAmount} />
      <DialogButtons>
        <Button onClick={onCancel}>{t('cancel')}</Button>
        <Button kind="primary" type="submit" busy={create.isPending} disabled={!isRight}>
          {t('accounts.create')}
        </Button>
      </DialogButtons>
    </form>
  )
}
