/** Prices for long requests, by a number of input tokens. */
import { useT } from '../../lib/language.ts'
import type { ModelKind } from '../../lib/models.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import type { TierDraft } from './price-draft.ts'
import { TokenFields } from './token-fields.tsx'

type Props = {
  readonly tiers: readonly TierDraft[]
  readonly kind: ModelKind
  readonly onChange: (tiers: readonly TierDraft[]) => void
}

export function TierFields({ tiers, kind, onChange }: Props) {
  const t = useT()
  const setTier = (at: number, change: Partial<TierDraft>): void =>
    onChange(tiers.map((tier, other) => (other === at ? { ...tier, ...change } : tier)))
  return (
    <>
      {tiers.map((tier, at) => (
        <div key={at} className="space-y-3 rounded-md border p-3">
          <div className="flex items-end gap-2">
            <TextField
              label={t('routing.tierFrom')}
              value={tier.above}
              inputMode="numeric"
              pattern="[1-9][0-9]{0,8}"
              onChange={(event) => setTier(at, { above: event.target.value })}
              required
            />
            <IconButton
              icon="cross"
              label={t('routing.removePiece')}
              onClick={() => onChange(tiers.filter((_, other) => other !== at))}
              className="mb-0.5"
            />
          </div>
          <TokenFields tokens={tier.tokens} kind={kind} isRequired onChange={(tokens) => setTier(at, { tokens })} />
        </div>
      ))}
      <Button icon="plus" onClick={() => onChange([...tiers, { above: '', tokens: {} }])}>
        {t('routing.addTier')}
      </Button>
    </>
  )
}
