import type { ReactNode } from 'react'
import type { PublicModel } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { useShow } from '../../lib/show.ts'
import { CurrentPrice } from '../../parts/prices.tsx'
import { Facts } from '../../ui/page.tsx'
import { Id } from '../../ui/text.tsx'

type Props = {
  readonly model: PublicModel
  /** What only those who are signed in learn. */
  readonly more?: readonly (readonly [string, ReactNode])[]
}

/** What a model is, how far it goes, and what it costs now. */
export function ModelFacts({ model, more = [] }: Props) {
  const t = useT()
  const show = useShow()
  // Pictures have no context and vectors no longest output: no line says that there is nothing.
  const count = (name: string, value: number | null) => (value === null ? [] : [[name, show.number(value)] as const])
  return (
    <>
      <Facts
        rows={[
          [t('column.id'), <Id key="id" id={model.id} isShort={false} />],
          [t('models.kind'), t(`kind.${model.kind}`)],
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
