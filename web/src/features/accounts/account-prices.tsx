/** What an account pays: the prices that differ from those of the models, and a form to set one. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import type { Account, AccountPrice } from '../../lib/api-types.gen.ts'
import { editing } from '../../lib/editing.ts'
import { useT } from '../../lib/language.ts'
import { nanoOf, typedDollars } from '../../lib/money.ts'
import { DollarField } from '../../parts/dollar-field.tsx'
import { usePriceBasis } from '../../parts/price-basis.tsx'
import { PriceTable } from '../../parts/prices.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failure, Note } from '../../ui/page.tsx'
import { Ago, Status } from '../../ui/text.tsx'
import { accountPricesQuery, setAccountPrice, type AccountPriceChange } from './api.ts'

export function AccountPrices({ account }: { readonly account: Account }) {
  const t = useT()
  const { data, error, refetch } = useQuery(accountPricesQuery(account.id))
  const isOpen = account.origin === 'stored'
  return (
    <section>
      <h3 className="mb-2 border-b pb-1 font-semibold">{t('accounts.prices')}</h3>
      {error && <Failure error={error} onRetry={refetch} />}
      {data?.data.length === 0 && <p className="text-soft">{t('accounts.pricesNone')}</p>}
      <ul className="space-y-2">
        {data?.data.map((price) => (
          <PriceItem key={price.model ?? ''} account={account.id} price={price} isOpen={isOpen} />
        ))}
      </ul>
      {isOpen && <PriceForm account={account.id} />}
    </section>
  )
}

type ItemProps = { readonly account: string; readonly price: AccountPrice; readonly isOpen: boolean }

function PriceItem({ account, price, isOpen }: ItemProps) {
  const t = useT()
  const basisOf = usePriceBasis()
  const end = useMutation({
    meta: editing,
    mutationFn: () => setAccountPrice(account, { model: price.model, factor: null }),
  })
  return (
    <li className="rounded-md border p-3">
      <p className="flex items-start gap-2">
        <span className="min-w-0 grow break-words">
          <span className="font-medium">{price.model ?? t('price.others')}</span>{' '}
          <span className="text-soft">
            {basisOf(price)} · <Ago at={price.effective_from} />
          </span>
        </span>
        {!price.in_force && <Status tone="warn">{t('accounts.priceIdle')}</Status>}
        {isOpen && (
          <Button kind="quiet" className="-my-1" busy={end.isPending} onClick={() => end.mutate()}>
            {t('accounts.priceEnd')}
          </Button>
        )}
      </p>
      {end.error && <Failure error={end.error} />}
      {price.price && (
        <details>
          <summary className="min-h-6 text-soft">{t('accounts.prices')}</summary>
          <PriceTable card={price.price} />
        </details>
      )}
    </li>
  )
}

const nanoText = (typed: string): string | undefined => {
  const dollars = typedDollars(typed)
  return dollars === undefined ? undefined : nanoOf(dollars).toString()
}

/** A factor, or the token prices of one model. Other units of a price are set by command. */
function PriceForm({ account }: { readonly account: string }) {
  const t = useT()
  const [model, setModel] = useState('')
  const [factor, setFactor] = useState('')
  const [input, setInput] = useState('')
  const [output, setOutput] = useState('')
  const save = useMutation({
    meta: editing,
    mutationFn: (change: AccountPriceChange) => setAccountPrice(account, change),
  })
  const [paidIn, paidOut] = [nanoText(input), nanoText(output)]
  const named = model.trim() === '' ? null : model.trim()
  const change: AccountPriceChange | undefined =
    factor.trim() !== ''
      ? { model: named, factor: factor.trim() }
      : paidIn === undefined
        ? undefined
        : { model: named, price: { input: paidIn, ...(paidOut !== undefined && { output: paidOut }) } }
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (change) save.mutate(change)
  }
  return (
    <form onSubmit={submit} className="mt-3 space-y-3">
      {save.error && <Failure error={save.error} />}
      {save.data && save.data.below_cost_total > 0 && (
        <Note kind="warn">{t('accounts.priceLosses', { n: save.data.below_cost_total })}</Note>
      )}
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label={t('column.model')}
          placeholder={t('price.others')}
          value={model}
          onChange={(event) => setModel(event.target.value)}
        />
        <TextField
          label={t('accounts.priceFactor')}
          placeholder="0.9"
          inputMode="decimal"
          pattern="\d{1,3}(\.\d{1,6})?"
          value={factor}
          onChange={(event) => setFactor(event.target.value)}
        />
        <DollarField label={t('models.input')} value={input} onType={setInput} disabled={factor.trim() !== ''} />
        <DollarField label={t('models.output')} value={output} onType={setOutput} disabled={factor.trim() !== ''} />
      </div>
      <p className="text-xs text-soft">{t('accounts.priceHint')}</p>
      <div className="flex justify-end">
        <Button type="submit" kind="primary" busy={save.isPending} disabled={!change}>
          {t('accounts.priceSet')}
        </Button>
      </div>
    </form>
  )
}
