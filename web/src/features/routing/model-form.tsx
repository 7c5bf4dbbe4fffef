import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { api, type Page } from '../../lib/api.ts'
import { useT } from '../../lib/i18n/language.ts'
import { exact } from '../../lib/money.ts'
import type { UnitPrices } from '../../lib/models.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { DialogButtons } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/page.tsx'
import {
  addModel,
  changeModel,
  isPrice,
  type ModelDraft,
  type OfferDraft,
  type PriceDraft,
  type RoutedModel,
} from './routing.ts'

type Props = { readonly before?: RoutedModel; readonly onDone: (id: string) => void; readonly onCancel: () => void }

const noPrice: PriceDraft = { input: '', output: '', cached: '' }
const plain = (amount: string): string => exact(amount).replaceAll(/[$,]/g, '')
const typed = ({ input, output, cached_input: cached }: UnitPrices): PriceDraft => ({
  input: plain(input),
  output: plain(output),
  cached: cached === input ? '' : plain(cached),
})

function draftOf(before: RoutedModel | undefined): ModelDraft {
  if (!before)
    return {
      id: '',
      kind: 'text',
      outputMax: '',
      price: noPrice,
      offers: [{ provider: '', model: '', priority: '0', weight: '1', cost: noPrice }],
    }
  return {
    id: before.id,
    kind: before.kind === 'embedding' ? 'embedding' : 'text',
    outputMax: before.output_tokens_max?.toString() ?? '',
    price: typed(before.price),
    offers: before.offers.map(({ provider, model, priority, weight, cost }) => ({
      provider,
      model,
      priority: String(priority),
      weight: String(weight),
      cost: typed(cost),
    })),
  }
}

/** A public model: its sale price, and who serves it. A changed price becomes a new dated card. */
export function ModelForm({ before, onDone, onCancel }: Props) {
  const t = useT()
  const [draft, setDraft] = useState(() => draftOf(before))
  const { data: providers } = useQuery({
    queryKey: ['providers'],
    queryFn: () => api.get<Page<{ readonly id: string }>>('providers', { limit: 200 }),
  })
  const ids = providers?.data.map(({ id }) => id) ?? []
  const offers = draft.offers.map((offer) => ({ ...offer, provider: offer.provider || (ids[0] ?? '') }))
  const save = useMutation({
    mutationFn: () =>
      before ? changeModel(before.id, { price: draft.price, offers }) : addModel({ ...draft, offers }),
    onSuccess: (model) => onDone(model.id),
  })
  const setOffer = (at: number, change: Partial<OfferDraft>): void =>
    setDraft({ ...draft, offers: draft.offers.map((offer, other) => (other === at ? { ...offer, ...change } : offer)) })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form onSubmit={submit} className="space-y-4">
      {save.error && <Failure error={save.error} />}
      {!before && <Identity draft={draft} onChange={setDraft} />}
      <fieldset>
        <legend className="mb-1 font-semibold">{t('routing.sale')}</legend>
        <Prices
          draft={draft.price}
          onChange={(price) => setDraft({ ...draft, price })}
          isRequired={before === undefined}
        />
      </fieldset>
      <fieldset className="space-y-3">
        <legend className="mb-1 font-semibold">{t('routing.offers')}</legend>
        {offers.map((offer, at) => (
          <OfferFields
            key={at}
            offer={offer}
            ids={ids}
            onChange={(change) => setOffer(at, change)}
            onRemove={
              offers.length > 1
                ? () => setDraft({ ...draft, offers: draft.offers.filter((_, other) => other !== at) })
                : undefined
            }
          />
        ))}
        <Button
          icon="plus"
          onClick={() =>
            setDraft({
              ...draft,
              offers: [...draft.offers, { provider: '', model: '', priority: '0', weight: '1', cost: noPrice }],
            })
          }
        >
          {t('routing.addOffer')}
        </Button>
      </fieldset>
      <DialogButtons>
        <Button onClick={onCancel}>{t('cancel')}</Button>
        <Button kind="primary" type="submit" busy={save.isPending}>
          {before ? t('save') : t('routing.add')}
        </Button>
      </DialogButtons>
    </form>
  )
}

function Identity({ draft, onChange }: { readonly draft: ModelDraft; readonly onChange: (draft: ModelDraft) => void }) {
  const t = useT()
  return (
    <div className="grid gap-3 sm:grid-cols-3">
      <TextField
        label={t('routing.id')}
        hint={t('routing.idHint')}
        value={draft.id}
        onChange={(event) => onChange({ ...draft, id: event.target.value })}
        autoFocus
        required
      />
      <SelectField
        label={t('models.kind')}
        value={draft.kind}
        choices={(['text', 'embedding'] as const).map((value) => ({ value, label: t(`kind.${value}`) }))}
        onChoose={(kind) => onChange({ ...draft, kind })}
      />
      <TextField
        label={t('models.longest')}
        inputMode="numeric"
        pattern="\d*"
        value={draft.outputMax}
        onChange={(event) => onChange({ ...draft, outputMax: event.target.value })}
      />
    </div>
  )
}

type PricesProps = {
  readonly draft: PriceDraft
  readonly onChange: (draft: PriceDraft) => void
  readonly isRequired: boolean
}

function Prices({ draft, onChange, isRequired }: PricesProps) {
  const t = useT()
  return (
    <div className="grid grid-cols-3 gap-3">
      {(['input', 'cached', 'output'] as const).map((name) => (
        <TextField
          key={name}
          label={t(`models.${name}`)}
          inputMode="decimal"
          value={draft[name]}
          required={isRequired && name === 'input'}
          error={isPrice(draft[name]) ? undefined : t('limit.badAmount')}
          onChange={(event) => onChange({ ...draft, [name]: event.target.value })}
        />
      ))}
    </div>
  )
}

type OfferProps = {
  readonly offer: OfferDraft
  readonly ids: readonly string[]
  readonly onChange: (change: Partial<OfferDraft>) => void
  readonly onRemove: (() => void) | undefined
}

function OfferFields({ offer, ids, onChange, onRemove }: OfferProps) {
  const t = useT()
  const all = ids.includes(offer.provider) || offer.provider === '' ? ids : [...ids, offer.provider]
  return (
    <div className="space-y-3 rounded-md border p-3">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-[1fr_1.4fr_5rem_5rem_auto]">
        <SelectField
          label={t('routing.provider')}
          value={offer.provider}
          choices={all.map((value) => ({ value, label: value }))}
          onChoose={(provider) => onChange({ provider })}
        />
        <TextField
          label={t('routing.upstream')}
          value={offer.model}
          onChange={(event) => onChange({ model: event.target.value })}
          required
        />
        <TextField
          label={t('routing.priority')}
          type="number"
          min={0}
          value={offer.priority}
          onChange={(event) => onChange({ priority: event.target.value })}
        />
        <TextField
          label={t('routing.weight')}
          type="number"
          min={1}
          value={offer.weight}
          onChange={(event) => onChange({ weight: event.target.value })}
        />
        {onRemove && (
          <IconButton icon="cross" label={t('routing.removeOffer')} onClick={onRemove} className="self-end" />
        )}
      </div>
      <p className="text-xs text-soft">{t('routing.cost')}</p>
      <Prices draft={offer.cost} onChange={(cost) => onChange({ cost })} isRequired={false} />
    </div>
  )
}
