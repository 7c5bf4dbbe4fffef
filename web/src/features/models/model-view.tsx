import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Model, ModelDetail } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { useT } from '../../lib/language.ts'
import { clientBaseUrl, useMe } from '../../lib/session.ts'
import { useShow } from '../../lib/show.ts'
import { usePriceBasis } from '../../parts/price-basis.tsx'
import { PriceTable } from '../../parts/prices.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { Failure, Waiting } from '../../ui/page.tsx'
import { CodeBlock, Status } from '../../ui/text.tsx'
import { ModelFacts } from './model-facts.tsx'

export function ModelView({ account, id }: { readonly account: string; readonly id: string }) {
  const t = useT()
  const show = useShow()
  const basisOf = usePriceBasis()
  const {
    data: model,
    error,
    refetch,
  } = useQuery({
    queryKey: ['model', account, id],
    queryFn: () => api.get<ModelDetail>(path`accounts/${account}/models/${id}`),
  })
  if (error) return <Failure error={error} onRetry={refetch} />
  if (!model) return <Waiting />
  const ownPrice = { basis: model.price_basis, factor: model.price_factor }
  return (
    <div className="space-y-6">
      <ModelFacts
        model={model}
        more={[
          [t('models.owner'), model.owned_by],
          ...(model.price_basis === 'model' ? [] : [[t('price.basis'), basisOf(ownPrice)] as const]),
          [
            t('column.status'),
            <Status key="status" tone={model.available ? 'good' : 'warn'}>
              {t(model.available ? 'models.available' : 'models.unavailable')}
            </Status>,
          ],
        ]}
      />
      <Snippet model={model} />
      <Link to="/a/$account/playground" params={{ account }} search={playgroundOf(model)} className={buttonClass()}>
        {t('models.try')}
      </Link>
      {model.price_history.length > 1 && (
        <section>
          <h3 className="mb-2 border-b pb-1 font-semibold">{t('models.history')}</h3>
          {model.price_history.map((card) => (
            <details key={card.card} className="mb-1">
              <summary className="min-h-6">{show.time(card.effective_from, 'long')}</summary>
              <PriceTable card={card} />
            </details>
          ))}
        </section>
      )}
    </div>
  )
}

type PlaygroundKind = 'chat' | 'image' | 'video'
const playgrounds: Readonly<Partial<Record<Model['kind'], PlaygroundKind>>> = {
  text: 'chat',
  image: 'image',
  video: 'video',
}

function playgroundOf({ id, kind: made }: Model): { kind?: PlaygroundKind; model?: string } {
  const kind = playgrounds[made]
  return kind === undefined ? {} : { kind, model: id }
}

/** Without an example the snippet is left out. */
const bodies: Readonly<Partial<Record<Model['kind'], readonly [route: string, rest: string]>>> = {
  text: ['chat/completions', '"messages": [{"role": "user", "content": "Hello"}]'],
  embedding: ['embeddings', '"input": "Hello"'],
  image: ['images/generations', '"prompt": "A lighthouse at dusk"'],
  video: ['videos', '"content": [{"type": "text", "text": "A lighthouse at dusk"}]'],
}

function Snippet({ model }: { readonly model: Model }) {
  const t = useT()
  const me = useMe()
  const example = bodies[model.kind]
  if (!example) return null
  const [route, rest] = example
  const text = [
    `curl ${clientBaseUrl(me)}/${route} \\`,
    '  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '{"model": "${model.id}", ${rest}}'`,
  ].join('\n')
  return <CodeBlock label={t('keys.snippet')} text={text} />
}
