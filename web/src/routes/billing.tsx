import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { holdsQuery, statementQuery } from '../features/billing/api.ts'
import { RedeemCode } from '../features/billing/redeem-code.tsx'
import { StatementView } from '../features/billing/statement-view.tsx'
import { useT } from '../lib/language.ts'
import { columnOf } from '../lib/money.ts'
import { useCanWrite } from '../lib/session.ts'
import { Button } from '../ui/button.tsx'
import { Segments } from '../ui/field.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'
import { Ago, Money } from '../ui/text.tsx'

export function BillingPage() {
  const t = useT()
  const canWrite = useCanWrite()
  const { account } = useParams({ from: '/inside/a/$account/billing' })
  const { tab = 'ledger', month, dialog } = useSearch({ from: '/inside/a/$account/billing' })
  const navigate = useNavigate({ from: '/a/$account/billing' })
  return (
    <>
      <PageHead title={t('nav.billing')} hint={t('billing.hint')}>
        <Segments
          name={t('billing.what')}
          value={tab}
          choices={(['ledger', 'holds'] as const).map((value) => ({ value, label: t(`billing.${value}`) }))}
          onChoose={(value) => void navigate({ search: { tab: value } })}
        />
        {canWrite && (
          <Button kind="primary" icon="ticket" onClick={() => void navigate({ search: { tab, dialog: 'redeem' } })}>
            {t('billing.redeem')}
          </Button>
        )}
      </PageHead>
      {tab === 'ledger' ? (
        <Ledger
          account={account}
          month={month}
          onMonth={(next) => void navigate({ search: next === undefined ? {} : { month: next } })}
        />
      ) : (
        <OpenHolds account={account} />
      )}
      <RedeemCode
        account={account}
        open={canWrite && dialog === 'redeem'}
        onClose={() => void navigate({ search: { tab } })}
      />
    </>
  )
}

type LedgerProps = {
  readonly account: string
  readonly month: string | undefined
  readonly onMonth: (month: string | undefined) => void
}

function Ledger({ account, month, onMonth }: LedgerProps) {
  const { data, error, refetch } = useQuery(statementQuery(account, month))
  if (error) return <Failure error={error} onRetry={refetch} />
  return data ? <StatementView account={account} statement={data} onMonth={onMonth} /> : <Waiting />
}

function OpenHolds({ account }: { readonly account: string }) {
  const t = useT()
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(holdsQuery(account))
  if (error) return <Failure error={error} onRetry={refetch} />
  if (!data) return <Waiting />
  const holds = data.pages.flatMap((page) => page.data)
  const amount = columnOf(holds.map((hold) => hold.amount_nano_usd))
  const held = data.pages[0]?.held_nano_usd ?? '0'
  return (
    <>
      <Panel isFlush title={t('billing.holdsTitle')} tools={<Money amount={held} className="font-semibold" />}>
        {holds.length === 0 ? (
          <Empty>{t('billing.noHolds')}</Empty>
        ) : (
          <Table
            label={t('billing.holds')}
            rows={holds}
            keyOf={({ request }) => request}
            columns={[
              {
                key: 'request',
                head: t('column.id'),
                className: 'wrap-anywhere',
                cell: ({ request }) => (
                  <Link
                    to="/a/$account/requests/$request"
                    params={{ account, request }}
                    search={{}}
                    className="font-mono text-xs hover:text-accent hover:underline"
                  >
                    {request}
                  </Link>
                ),
              },
              { key: 'age', head: t('billing.since'), cell: (hold) => <Ago at={hold.created_at} /> },
              {
                key: 'amount',
                head: t('column.amount'),
                align: 'right',
                cell: (hold) => <Money amount={hold.amount_nano_usd} show={amount} />,
              },
            ]}
          />
        )}
      </Panel>
      {hasNextPage && (
        <Button className="mt-3" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t('more')}
        </Button>
      )}
    </>
  )
}
