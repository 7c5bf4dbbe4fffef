import { useMutation } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import type { PriceDifference, PriceImport } from '../../lib/api-types.gen.ts'
import { hasWords, useRetell, useT } from '../../lib/language.ts'
import { exact, nanoOf, shortPrice } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { duration } from '../../lib/time.ts'
import { BelowCost } from '../../parts/below-cost.tsx'
import { usePriceBasis } from '../../parts/price-basis.tsx'
import { usePieceName } from '../../parts/prices.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Empty, Failure, Note, Panel } from '../../ui/page.tsx'
import { Badge } from '../../ui/text.tsx'
import { importPrices, type WantedPrices } from './api.ts'

/** List prices are previewed before they apply. The server applies exactly the preview, or refuses. */
export function ImportPanel() {
  const t = useT()
  const [provider, setProvider] = useState('')
  const [prefix, setPrefix] = useState('')
  const [markup, setMarkup] = useState('')
  const [from, setFrom] = useState('')
  const wanted = wantedOf(provider.trim(), markup.trim(), from.trim())
  const look = useMutation({ mutationFn: (asked: WantedPrices) => importPrices(asked) })
  const approve = useMutation({
    mutationFn: (asked: WantedPrices) => importPrices(asked),
    onSuccess: () => look.reset(),
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    approve.reset()
    look.mutate(wanted)
  }
  const error = look.error ?? approve.error
  return (
    <div className="space-y-4">
      <Panel>
        <form onSubmit={submit} className="flex flex-wrap items-end gap-3">
          <div className="w-56">
            <TextField
              label={t('routing.provider')}
              placeholder={t('prices.all')}
              value={provider}
              onChange={(event) => setProvider(event.target.value)}
            />
          </div>
          <div className="w-40">
            <TextField
              label={t('prices.prefix')}
              placeholder={t('prices.noPrefix')}
              pattern="\w[\w.:@\-]*/"
              value={prefix}
              onChange={(event) => setPrefix(event.target.value)}
            />
          </div>
          <div className="w-40">
            <TextField
              label={t('prices.markup')}
              placeholder={t('prices.asSet')}
              pattern="\d+(\.\d+)?\s*%?"
              value={markup}
              onChange={(event) => setMarkup(event.target.value)}
            />
          </div>
          <ListField value={from} onType={setFrom} />
          <Button type="submit" kind="primary" busy={look.isPending}>
            {t('prices.look')}
          </Button>
        </form>
        <p className="mt-2 text-xs text-soft">{t('prices.importHint')}</p>
      </Panel>
      {error && <Failure error={error} />}
      {approve.data && <Note kind="good">{t('prices.applied', { n: approve.data.changes.length })}</Note>}
      {look.data && (
        <FoundChoices
          found={look.data}
          isBusy={approve.isPending}
          onApprove={() => approve.mutate({ ...look.variables, approved: look.data.fingerprint })}
        />
      )}
    </div>
  )
}

/** What is typed. An empty field leaves the choice to the server. */
const wantedOf = (provider: string, markup: string, from: string): WantedPrices => ({
  ...(provider === '' ? {} : { provider }),
  ...(from === '' ? {} : { from }),
  ...(markup === '' ? {} : { markup: markup.endsWith('%') ? markup : `${markup}%` }),
})

type ListFieldProps = { readonly value: string; readonly onType: (text: string) => void }

/** The address of a list of the operator's. */
function ListField({ value, onType }: ListFieldProps) {
  const t = useT()
  return (
    <div className="w-72">
      <TextField
        label={t('prices.list')}
        placeholder={t('prices.builtIn')}
        type="url"
        value={value}
        onChange={(event) => onType(event.target.value)}
      />
    </div>
  )
}

/** The API has two words for an absent value. */
const isSaid = (value: string | null): value is string => value !== null && value !== 'unknown' && value !== 'none'

/** Prices are dollars, counts have thousands separators, and limits are JSON. */
function useValue(): (about: PriceDifference['about'], value: string) => string {
  const t = useT()
  const show = useShow()
  const wordFor = (key: string, value: string): string => (hasWords(key) ? t(key) : value)
  return ({ kind, name }, value) => {
    if (kind === 'origin') return wordFor(`origin.${value}`, value)
    if (kind !== 'limit') return shortPrice(nanoOf(value))
    const limit: unknown = JSON.parse(value)
    if (typeof limit === 'boolean') return t(limit ? 'yes' : 'no')
    if (typeof limit === 'string') return wordFor(`prices.value.${limit}`, limit)
    if (typeof limit !== 'number') return value
    return name.endsWith('Ms') ? duration(limit) : show.number(limit)
  }
}

/** The changes in the language of the user. */
function useSubject(): (difference: PriceDifference) => string {
  const t = useT()
  const show = useShow()
  const pieceName = usePieceName()
  return ({ about: { kind, name, offer, above_input_tokens: above }, what }) => {
    if (kind === 'origin') return t('prices.of.origin')
    const key = kind === 'limit' ? `prices.limit.${name}` : `price.${name}`
    // A newer server may send a name that this page does not know. Its own word is shown.
    if (kind === 'limit') return hasWords(key) ? t(key) : what
    const unit = hasWords(key) ? t(key) : pieceName(name)
    const part = above === null ? unit : `${unit} · ${t('price.above', { tokens: show.number(above) })}`
    return offer === null ? t('prices.of.sale', { unit: part }) : t('prices.of.cost', { offer, unit: part })
  }
}

type FoundProps = { readonly found: PriceImport; readonly isBusy: boolean; readonly onApprove: () => void }

function FoundChoices({ found, isBusy, onApprove }: FoundProps) {
  const t = useT()
  const subjectOf = useSubject()
  const retell = useRetell()
  return (
    <Panel
      title={t('prices.found', { n: found.changes.length, same: found.unchanged, skipped: found.skipped.length })}
      tools={
        found.changes.length > 0 && (
          <Button kind="primary" icon="check" busy={isBusy} onClick={onApprove}>
            {t('prices.approve')}
          </Button>
        )
      }
      isFlush
    >
      {found.changes.length === 0 && <Empty>{t('prices.nothingNew')}</Empty>}
      <ul>
        {found.changes.map(({ model, kind, differences }) => (
          <li key={model} className="border-b px-4 py-2 last:border-0">
            <p className="flex flex-wrap items-center gap-2 font-medium">
              <span className="min-w-0 break-words">{model}</span> <Badge>{t(`prices.${kind}`)}</Badge>
            </p>
            <ul className="mt-1 grid gap-x-6 sm:grid-cols-2">
              {differences.map((difference) => (
                <li key={difference.what} className="flex items-end justify-between gap-x-2 text-soft">
                  <span className="min-w-0 break-words" title={difference.what}>
                    {subjectOf(difference)}
                  </span>
                  <span className="flex max-w-1/2 shrink-0 flex-wrap justify-end gap-x-2">
                    <Values difference={difference} />
                  </span>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {found.account_prices.length > 0 && (
        <details className="border-t px-4 py-2" open>
          <summary className="min-h-6">{t('prices.ofAccounts')}</summary>
          <ul className="text-soft">
            {found.account_prices.map((one) => (
              <OfAccounts key={`${one.model} ${one.kind} ${one.factor} ${one.accounts[0]}`} effect={one} />
            ))}
          </ul>
        </details>
      )}
      {found.skipped.length > 0 && (
        <details className="border-t px-4 py-2">
          <summary className="min-h-6">{t('prices.skipped', { n: found.skipped.length })}</summary>
          <ul className="text-soft">
            {found.skipped.map(({ what, reason, code, facts }) => (
              <li key={`${what} ${reason}`} title={reason}>
                {`${what}: ${retell('skips', { reason: code, facts }) ?? reason}`}
              </li>
            ))}
          </ul>
        </details>
      )}
    </Panel>
  )
}

/** A card of an account, which the import does not change, or a factor at which the model would be sold below cost. */
function OfAccounts({ effect }: { readonly effect: PriceImport['account_prices'][number] }) {
  const basisOf = usePriceBasis()
  const { model, kind, factor, accounts, accounts_total: total, below_cost: losses } = effect
  const more = total - accounts.length
  return (
    <li>
      {model} · {accounts.join(', ')}
      {more > 0 && ` +${more}`} · {basisOf({ basis: kind, factor })}
      <BelowCost
        losses={losses.map(({ sale_usd: sale, cost_usd: cost, ...loss }) => ({
          unit: loss.unit,
          above_input_tokens: loss.above_input_tokens,
          sale: nanoOf(sale).toString(),
          cost: nanoOf(cost).toString(),
        }))}
      />
    </li>
  )
}

function Values({ difference: { about, before, after } }: { readonly difference: PriceDifference }) {
  const valueOf = useValue()
  const isMoney = about.kind === 'sale' || about.kind === 'cost'
  const titleOf = (value: string): string | undefined => (isMoney ? exact(nanoOf(value)) : undefined)
  const [old, next] = [before, after].map((value) => (isSaid(value) ? valueOf(about, value) : undefined))
  // The approved difference must be visible: two prices that look alike in short form are written in full.
  const isAlike = old === next
  const shown = (value: string, short: string | undefined): string | undefined =>
    isAlike ? (titleOf(value) ?? short) : short
  return (
    <>
      {isSaid(before) && <del title={titleOf(before)}>{shown(before, old)}</del>}
      {isSaid(after) ? (
        <ins title={titleOf(after)} className="text-ink no-underline">
          {shown(after, next)}
        </ins>
      ) : (
        <ins className="text-ink no-underline">—</ins>
      )}
    </>
  )
}
