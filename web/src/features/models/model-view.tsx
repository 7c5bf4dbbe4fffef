import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Model, ModelDetail } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { useT } from '../../lib/language.ts'
import { clientBaseUrl, useMe } from '../../lib/session.ts'
import { useShow } from '../../lib/show.ts'
import { PriceTable } from '../../parts/prices.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { Failure, Waiting } from '../../ui/page.tsx'
import { CodeBlock, Status } from '../../ui/text.tsx'
import { ModelFacts } from './model-facts.tsx'

export function ModelView({ account, id }: { readonly account: string; readonly id: string }) {
  const t = useT()
  const show = useShow()
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
  return (
    <div className="space-y-6">
      <ModelFacts
        model={model}
        more={[
          [t('models.owner'), model.owned_by],
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

function playgroundOf({ id, kind }: Model): { kind?: 'chat' | 'image' | 'video'; model?: string } {
  if (kind === 'embedding') return {}
  return { kind: kind === 'text' ? 'chat' : kind, model: id }
}

const bodies = {
  text: ['chat/completions', '"messages": [{"role": "user", "content": "Hello"}]'],
  embedding: ['embeddings', '"input": "Hello"'],
  image: ['images/generations', '"prompt": "A lighthouse at dusk"'],
  video: ['videos', '"content": [{"type": "text", "text": "A lighthouse at dusk"}]'],
} as const

function Snippet({ model }: { readonly model: Model }) {
  const t = useT()
  const me = useMe()
  const [route, rest] = bodies[model.kind]
  const text = [
    `curl ${clientBaseUrl(me)}/${route} \\`,
    '  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '{"model": "${model.id}", ${rest}}'`,
  ].join('\n')
  return <CodeBlock label={t('keys.snippet')} text={text} />
}
