/** Prices per million tokens of each kind. */
import { useT, type Key } from '../../lib/language.ts'
import type { ModelKind } from '../../lib/models.ts'
import { DollarField } from '../../parts/dollar-field.tsx'
import { unitsShown, type PriceDraft, type TokenUnit } from './price-draft.ts'

type Props = {
  readonly tokens: PriceDraft['tokens']
  readonly kind: ModelKind
  /** Whether an input price is required. */
  readonly isRequired: boolean
  readonly onChange: (tokens: PriceDraft['tokens']) => void
}

const labels: Partial<Record<TokenUnit, Key>> = {
  input: 'models.input',
  cached_input: 'models.cached',
  output: 'models.output',
}

export function TokenFields({ tokens, kind, isRequired, onChange }: Props) {
  const t = useT()
  return (
    <div className="grid grid-cols-2 gap-3 sm:grid-cols-3">
      {unitsShown({ tokens }, kind).map((name) => (
        <DollarField
          key={name}
          label={t(labels[name] ?? (`price.${name}` as Key))}
          value={tokens[name] ?? ''}
          required={isRequired && name === 'input'}
          onType={(text) => onChange({ ...tokens, [name]: text })}
        />
      ))}
    </div>
  )
}
