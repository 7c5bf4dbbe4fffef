import { useT } from '../../lib/i18n/language.ts'
import type { Model } from '../../lib/models.ts'
import { nano, shortPrice } from '../../lib/money.ts'
import { outputOf, usePieces } from '../../parts/prices.tsx'
import { SelectField } from '../../ui/field.tsx'

type Props = { readonly models: readonly Model[]; readonly model: Model; readonly onChoose: (id: string) => void }

export function ModelPicker({ models, model, onChoose }: Props) {
  const t = useT()
  const piecesOf = usePieces()
  const { kind, price } = model
  const pieces = piecesOf(price)
  const output = outputOf(kind, price)
  const isByToken = pieces === undefined || nano(price.input) + nano(output) > 0n
  const tokens = isByToken ? t('play.price', { input: shortPrice(price.input), output: shortPrice(output) }) : undefined
  // Of a video the cost is said in full once it is chosen what is to be made; its pieces are of several kinds.
  const hint = kind === 'video' ? undefined : [tokens, pieces].filter((part) => part !== undefined).join(' · ')
  return (
    <SelectField
      label={t('column.model')}
      hint={hint}
      value={model.id}
      choices={models.map(({ id }) => ({ value: id, label: id }))}
      onChoose={onChoose}
    />
  )
}
