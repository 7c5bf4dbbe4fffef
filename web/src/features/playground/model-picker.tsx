import { useT } from '../../lib/i18n/language.ts'
import type { Model } from '../../lib/models.ts'
import { exact } from '../../lib/money.ts'
import { pieceRange } from '../../parts/prices.tsx'
import { SelectField } from '../../ui/field.tsx'

type Props = { readonly models: readonly Model[]; readonly model: Model; readonly onChoose: (id: string) => void }

export function ModelPicker({ models, model, onChoose }: Props) {
  const t = useT()
  const pieces = pieceRange(model.price)
  // Of a video the cost is said in full once it is chosen what is to be made; its pieces are of several kinds.
  const hint =
    model.kind === 'video'
      ? undefined
      : pieces === undefined
        ? t('play.price', {
            input: exact(model.price.input),
            output: exact(model.kind === 'image' ? model.price.image_output : model.price.output),
          })
        : t('play.pieces', { range: pieces })
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
