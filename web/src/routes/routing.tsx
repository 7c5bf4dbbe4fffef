import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RoutedModel } from '../lib/api-types.gen.ts'
import { ModelForm } from '../features/routing/model-form.tsx'
import { offerTones, RoutedView } from '../features/routing/routed-view.tsx'
import { routedQuery } from '../features/routing/api.ts'
import { useT } from '../lib/language.ts'
import { useRows } from '../lib/lists.ts'
import { nano, shortPrice } from '../lib/money.ts'
import { only } from '../lib/search.ts'
import { OriginBadge } from '../parts/declared.tsx'
import { earnedBy, MarkUp } from '../parts/margin.tsx'
import { Amounts, outputOf, usePieces } from '../parts/prices.tsx'
import { ListFoot } from '../parts/list-foot.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, Drawer } from '../ui/dialog.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'
import { Badge, Nothing, Status } from '../ui/text.tsx'

export function RoutingPage() {
  const t = useT()
  const { open, q, dialog } = useSearch({ from: '/inside/operator/models' })
  const navigate = useNavigate({ from: '/operator/models' })
  const list = useRows(routedQuery(only({ q })))
  const { rows, error, refetch } = list
  const close = (): void => void navigate({ search: only({ q }) })
  return (
    <>
      <PageHead title={t('nav.routing')} hint={t('routing.hint')}>
        <SearchField
          name={t('modelChoice.filter')}
          value={q}
          onSearch={(next) => void navigate({ search: only({ q: next }), replace: true })}
        />
        <Button kind="primary" icon="plus" onClick={() => void navigate({ search: { ...only({ q }), dialog: 'new' } })}>
          {t('routing.add')}
        </Button>
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!rows && !error && <Waiting />}
      {rows && (
        <Panel isFlush>
          {rows.length > 0 ? (
            <Models models={rows} q={q} />
          ) : (
            <Empty>{t(q === undefined ? 'routing.empty' : 'models.none')}</Empty>
          )}
        </Panel>
      )}
      <ListFoot list={list} />
      <Dialog open={dialog === 'new'} onClose={close} title={t('routing.add')} wide>
        <ModelForm onDone={(id) => void navigate({ search: { ...only({ q }), open: id } })} onCancel={close} />
      </Dialog>
      <Drawer open={open !== undefined} onClose={close} title={open ?? ''}>
        {open !== undefined && <RoutedView id={open} onClose={close} />}
      </Drawer>
    </>
  )
}

function Models({ models, q }: { readonly models: readonly RoutedModel[]; readonly q: string | undefined }) {
  const t = useT()
  const piecesOf = usePieces()
  // What is sold by the piece has its range in the first of the two columns; vectors have no output.
  const price = ({ kind, price: card }: RoutedModel, unit: 'input' | 'output'): ReactNode => {
    const pieces = piecesOf(card)
    const amount = unit === 'output' ? outputOf(kind, card) : card.input
    const tokens = nano(amount) > 0n || pieces === undefined ? [shortPrice(amount)] : []
    if (unit === 'input') return <Amounts text={[...tokens, ...(pieces === undefined ? [] : [pieces])].join(' · ')} />
    return tokens.length === 0 || kind === 'embedding' ? <Nothing /> : tokens
  }
  return (
    <Table
      label={t('nav.routing')}
      rows={models}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'id',
          head: t('column.model'),
          className: 'max-w-32 sm:max-w-64',
          cell: ({ id, origin }) => (
            <span className="flex items-center gap-2">
              <Link
                to="/operator/models"
                search={{ ...only({ q }), open: id }}
                title={id}
                className="truncate font-medium hover:text-accent hover:underline"
              >
                {id}
              </Link>
              <OriginBadge origin={origin} />
            </span>
          ),
        },
        {
          key: 'kind',
          head: t('models.kind'),
          isOptional: true,
          cell: ({ kind }) => <Badge>{t(`kind.${kind}`)}</Badge>,
        },
        {
          key: 'input',
          head: t('models.input'),
          align: 'right',
          cell: (model) => price(model, 'input'),
        },
        {
          key: 'output',
          head: t('models.output'),
          align: 'right',
          isOptional: true,
          cell: (model) => <span className="whitespace-nowrap">{price(model, 'output')}</span>,
        },
        {
          key: 'offers',
          head: t('routing.offers'),
          cell: ({ offers }) =>
            offers.length === 0 ? (
              <Status tone="bad">{t('routing.nobody')}</Status>
            ) : (
              <span className="flex flex-wrap gap-1">
                {offers.map((offer) => (
                  <Status key={`${offer.provider} ${offer.model}`} tone={offerTones[offer.state]}>
                    <span title={offer.provider} className="max-w-16 truncate sm:max-w-48">
                      {offer.provider}
                    </span>
                  </Status>
                ))}
              </span>
            ),
        },
        {
          key: 'markup',
          head: t('routing.markup'),
          align: 'right',
          isOptional: true,
          cell: ({ offers }) => <MarkUp {...earnedBy(offers.map(({ margin }) => margin))} />,
        },
      ]}
    />
  )
}
