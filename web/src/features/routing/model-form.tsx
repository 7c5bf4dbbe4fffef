import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import type { RoutedModel } from '../../lib/api-types.gen.ts'
import { editing } from '../../lib/editing.ts'
import { useT } from '../../lib/language.ts'
import { modelKinds, type ModelKind } from '../../lib/models.ts'
import { providerIdsQuery } from '../../lib/providers.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { DialogButtons } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/page.tsx'
import { LimitFields } from './limit-fields.tsx'
import { areAmounts } from './price-draft.ts'
import { PriceFields } from './price-fields.tsx'
import { addModel, changeModel } from './api.ts'
import { draftOf, newOffer, type ModelDraft, type OfferDraft } from './model-draft.ts'

type Props = { readonly before?: RoutedModel; readonly onDone: (id: string) => void; readonly onCancel: () => void }

/** The form of a public model: its sale price and its offers. A changed price becomes a new dated price card. */
export function ModelForm({ before, onDone, onCancel }: Props) {
  const t = useT()
  const [first] = useState(() => draftOf(before))
  const [draft, setDraft] = useState(first)
  const { data: ids = [] } = useQuery(providerIdsQuery)
  const offers = draft.offers.map((offer) => ({ ...offer, provider: offer.provider || (ids[0] ?? '') }))
  const save = useMutation({
    meta: editing,
    mutationFn: () => (before ? changeModel(first, { ...draft, offers }) : addModel({ ...draft, offers })),
  })
  const setOffer = (at: number, change: Partial<OfferDraft>): void =>
    setDraft({ ...draft, offers: draft.offers.map((offer, other) => (other === at ? { ...offer, ...change } : offer)) })
  const isRight = [draft.price, ...offers.map(({ cost }) => cost)].every(areAmounts)
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (isRight) save.mutate(undefined, { onSuccess: (model) => onDone(model.id) })
  }
  return (
    <form onSubmit={submit} className="space-y-4">
      {save.error && <Failure error={save.error} />}
      {!before && <Identity draft={draft} onChange={setDraft} />}
      <fieldset>
        <legend className="mb-1 font-semibold">{t('routing.sale')}</legend>
        <PriceFields
          draft={draft.price}
          kind={draft.kind}
          onChange={(price) => setDraft({ ...draft, price })}
          isRequired={before === undefined}
        />
      </fieldset>
      <fieldset>
        <legend className="mb-1 font-semibold">{t('routing.abilities')}</legend>
        <LimitFields
          draft={draft.limits}
          kind={draft.kind}
          isThere={before !== undefined}
          onChange={(limits) => setDraft({ ...draft, limits })}
        />
      </fieldset>
      <fieldset className="space-y-3">
        <legend className="mb-1 font-semibold">{t('routing.offers')}</legend>
        {offers.map((offer, at) => (
          <OfferFields
            key={at}
            offer={offer}
            kind={draft.kind}
            ids={ids}
            onChange={(change) => setOffer(at, change)}
            onRemove={
              offers.length > 1
                ? () => setDraft({ ...draft, offers: draft.offers.filter((_, other) => other !== at) })
                : undefined
            }
          />
        ))}
        <Button icon="plus" onClick={() => setDraft({ ...draft, offers: [...draft.offers, newOffer] })}>
          {t('routing.addOffer')}
        </Button>
      </fieldset>
      <DialogButtons>
        <Button onClick={onCancel}>{t('cancel')}</Button>
        <Button kind="primary" type="submit" busy={save.isPending} disabled={!isRight}>
          {before ? t('save') : t('routing.add')}
        </Button>
      </DialogButtons>
    </form>
  )
}

function Identity({ draft, onChange }: { readonly draft: ModelDraft; readonly onChange: (draft: ModelDraft) => void }) {
  const t = useT()
  return (
    <div className="grid gap-3 sm:grid-cols-2">
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
        choices={modelKinds.map((value) => ({ value, label: t(`kind.${value}`) }))}
        onChoose={(kind) => onChange({ ...draft, kind })}
      />
    </div>
  )
}

type OfferProps = {
  readonly offer: OfferDraft
  readonly kind: ModelKind
  readonly ids: readonly string[]
  readonly onChange: (change: Partial<OfferDraft>) => void
  readonly onRemove: (() => void) | undefined
}

function OfferFields({ offer, kind, ids, onChange, onRemove }: OfferProps) {
  const t = useT()
  const all = ids.includes(offer.provider) || offer.provider === '' ? ids : [...ids, offer.provider]
  return (
    <div className="space-y-3 rounded-md border p-3">
      <div className="flex items-end gap-2">
        <div className="grid min-w-0 grow grid-cols-2 gap-3 sm:grid-cols-[1fr_1.4fr_5rem_5rem_7rem]">
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
          <TextField
            label={t('routing.context')}
            type="number"
            min={1}
            value={offer.context}
            onChange={(event) => onChange({ context: event.target.value })}
          />
        </div>
        {onRemove && <IconButton icon="cross" label={t('routing.removeOffer')} onClick={onRemove} className="mb-0.5" />}
      </div>
      <p className="text-xs text-soft">{t('routing.cost')}</p>
      <PriceFields draft={offer.cost} kind={kind} onChange={(cost) => onChange({ cost })} isRequired={false} />
    </div>
  )
}
