import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import type { Account, Me } from '../../lib/api-types.gen.ts'
import { accountQuery } from '../../lib/accounts.ts'
import { api, path } from '../../lib/api.ts'
import { useT } from '../../lib/language.ts'
import { sessionQuery } from '../../lib/session.ts'
import { useShow } from '../../lib/show.ts'
import { Declared } from '../../parts/declared.tsx'
import { LimitsList } from '../../parts/limits-list.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { StopDialog } from '../../parts/stop.tsx'
import { Facts, Failure, Figure, Waiting } from '../../ui/page.tsx'
import { Id, Money, Status, Time } from '../../ui/text.tsx'
import { AccountLimits } from './account-limits.tsx'
import { AccountPrices } from './account-prices.tsx'
import { Adjust } from './adjust.tsx'
import { changeAccount } from './api.ts'

export function AccountView({ id }: { readonly id: string }) {
  const { data: account, error, refetch } = useQuery(accountQuery(id))
  if (error) return <Failure error={error} onRetry={refetch} />
  return account ? <View account={account} /> : <Waiting />
}

function View({ account }: { readonly account: Account }) {
  const t = useT()
  const show = useShow()
  const [doing, setDoing] = useState<'adjust' | 'limits'>()
  const [isAsking, setAsking] = useState(false)
  const isActive = account.status === 'active'
  const status = useMutation({
    mutationFn: () => changeAccount(account.id, { status: isActive ? 'suspended' : 'active' }),
    onSuccess: () => setAsking(false),
  })
  const done = (): void => setDoing(undefined)
  const { balance, origin } = account
  return (
    <div className="space-y-5">
      <Declared origin={origin} />
      {status.error && !isAsking && <Failure error={status.error} />}
      <StopDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={t('accounts.suspendTitle', { name: account.name })}
        text={t('accounts.suspendText')}
        of={path`accounts/${account.id}`}
        action={t('accounts.suspend')}
        isBusy={status.isPending}
        error={status.error}
        onStop={() => status.mutate()}
      />
      <BalanceFigures balance={balance} />
      <div className="flex flex-wrap gap-2">
        <Link to="/a/$account/overview" params={{ account: account.id }} className={buttonClass()}>
          {t('accounts.open')}
        </Link>
        <ViewAs id={account.id} />
        <Button icon="billing" onClick={() => setDoing('adjust')}>
          {t('accounts.adjust')}
        </Button>
        <Button
          kind={isActive ? 'danger' : 'plain'}
          busy={status.isPending}
          onClick={() => (isActive ? setAsking(true) : status.mutate())}
        >
          {t(isActive ? 'accounts.suspend' : 'accounts.resume')}
        </Button>
      </div>
      {doing === 'adjust' && <Adjust id={account.id} onDone={done} />}
      <Facts
        rows={[
          [t('column.id'), <Id key="id" id={account.id} isShort={false} />],
          [
            t('column.status'),
            <Status key="status" tone={account.status === 'active' ? 'good' : 'bad'}>
              {t(`account.${account.status}`)}
            </Status>,
          ],
          [t('nav.keys'), show.number(account.active_keys)],
          [t('keys.models'), account.models?.join(', ') ?? t('modelChoice.all')],
          [t('column.created'), <Time key="created" at={account.created_at} />],
        ]}
      />
      <LimitsSection account={account} isEditing={doing === 'limits'} onEdit={setDoing} onDone={done} />
      <AccountPrices account={account} />
    </div>
  )
}

type LimitsProps = {
  readonly account: Account
  readonly isEditing: boolean
  readonly onEdit: (what: 'limits') => void
  readonly onDone: () => void
}

function LimitsSection({ account, isEditing, onEdit, onDone }: LimitsProps) {
  const t = useT()
  return (
    <section>
      <div className="mb-2 flex items-center border-b pb-1">
        <h3 className="grow font-semibold">{t('limit.title')}</h3>
        {account.origin === 'stored' && !isEditing && (
          <Button kind="quiet" className="-my-1 -mr-3" onClick={() => onEdit('limits')}>
            {t('keys.edit')}
          </Button>
        )}
      </div>
      {isEditing ? <AccountLimits account={account} onDone={onDone} /> : <LimitsList limits={account.limits} />}
    </section>
  )
}

function BalanceFigures({ balance }: Pick<Account, 'balance'>) {
  const t = useT()
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2">
      <Figure label={t('money.available')}>
        <Money amount={balance.available_nano_usd} />
      </Figure>
      <Figure label={t('money.held')}>
        <Money amount={balance.held_nano_usd} />
      </Figure>
      <Figure label={t('money.total')}>
        <Money amount={balance.posted_nano_usd} />
      </Figure>
    </dl>
  )
}

/** Views the account as a member, on every page, until the operator ends the view. */
function ViewAs({ id }: { readonly id: string }) {
  const t = useT()
  const client = useQueryClient()
  const router = useRouter()
  const look = useMutation({
    mutationFn: () => api.post<Me>('session/view-as', { account: id }),
    onSuccess: async (me) => {
      const overview = { to: '/a/$account/overview', params: { account: id } } as const
      // The current page may be closed to members, so the next page is ready before the view begins.
      await router.preloadRoute(overview)
      client.clear()
      client.setQueryData(sessionQuery.queryKey, me)
      await router.navigate(overview)
    },
  })
  return (
    <>
      <Button icon="eye" busy={look.isPending} onClick={() => look.mutate()}>
        {t('accounts.viewAs')}
      </Button>
      {look.error && <Failure error={look.error} />}
    </>
  )
}
