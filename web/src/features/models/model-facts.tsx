import type { ReactNode } from 'react'
import type { PublicModel } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { useShow } from '../../lib/show.ts'
import { CurrentPrice } from '../../parts/prices.tsx'
import { Facts } from '../../ui/page.tsx'
import { Id } from '../../ui/text.tsx'

type Props = {
  readonly model: PublicModel
  /** Facts for signed-in users only. */
  readonly more?: readonly (readonly [string, ReactNode])[]
}

/** The type, the limits and the current prices of a model. */
export function ModelFacts({ model, more = [] }: Props) {
  const t = useT()
  const show = useShow()
  // Image models have no context, and embedding models have no output. Such rows are left out.
  const count = (name: string, value: number | null) => (value === null ? [] : [[name, show.number(value)] as const])
  return (
    <>
      <Facts
        rows={[
          [t('column.id'), <Id key="id" id={model.id} isShort={false} />],
          [t('models.kind'), t(`kind.${model.kind}`)],
          ...(model.aliases.length === 0 ? [] : [[t('models.aliases'), model.aliases.join(', ')] as const]),
          ...more,
          ...count(t('models.context'), model.context_tokens),
          ...count(t('models.longest'), model.output_tokens_max),
          ...count(t('models.dimensions'), model.dimensions),
          ...(model.image === null ? [] : [[t('models.sizes'), model.image.sizes.join(', ')] as const]),
          ...(model.video === null ? [] : [[t('play.resolution'), model.video.resolutions.join(', ')] as const]),
        ]}
      />
      <CurrentPrice card={model.price} />
    </>
  )
}
