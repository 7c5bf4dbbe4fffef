import type { Model } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { nano, shortPrice } from '../../lib/money.ts'
import { outputOf, usePieces } from '../../parts/prices.tsx'
import { Picker } from '../../parts/picker.tsx'
import { Field } from '../../ui/field.tsx'

type Props = { readonly models: readonly Model[]; readonly model: Model; readonly onChoose: (id: string) => void }

const SHOWN_MAX = 100

/** All models are loaded already, so the server is not asked. */
const among = (models: readonly Model[]) => (q: string) => ({
  queryKey: ['choices', 'here', models.length, q],
  queryFn: () => {
    const fits = models.filter(({ id }) => id.toLowerCase().includes(q.toLowerCase()))
    return { choices: fits.slice(0, SHOWN_MAX).map(({ id }) => ({ value: id, label: id })), total: fits.length }
  },
})

export function ModelPicker({ models, model, onChoose }: Props) {
  const t = useT()
  const piecesOf = usePieces()
  const { kind, price } = model
  const pieces = piecesOf(price)
  const output = outputOf(kind, price)
  const isByToken = pieces === undefined || nano(price.input) + nano(output) > 0n
  const tokens = isByToken ? t('play.price', { input: shortPrice(price.input), output: shortPrice(output) }) : undefined
  // A video is priced by several units. Its full price is shown once its options are chosen.
  const hint = kind === 'video' ? undefined : [tokens, pieces].filter((part) => part !== undefined).join(' · ')
  return (
    <Field label={t('column.model')} hint={hint}>
      {({ id }) => (
        <Picker
          id={id}
          name={t('column.model')}
          value={model.id}
          shown={model.id}
          query={among(models)}
          onChoose={onChoose}
          className="w-full min-w-0"
        />
      )}
    </Field>
  )
}
