import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useT } from '../../lib/i18n/language.ts'
import { useShow } from '../../lib/show.ts'
import { duration } from '../../lib/time.ts'
import { Declared } from '../../parts/declared.tsx'
import { Remove } from '../../parts/remove.tsx'
import { Button } from '../../ui/button.tsx'
import { Facts, Failure, Note } from '../../ui/page.tsx'
import { Ago } from '../../ui/text.tsx'
import { ProviderForm } from './provider-form.tsx'
import { ProviderState } from './provider-table.tsx'
import { removeProvider, resumeProvider, setState, testProvider, type Provider, type Tested } from './providers.ts'

type Props = { readonly provider: Provider; readonly onClose: () => void }

export function ProviderView({ provider, onClose }: Props) {
  const t = useT()
  const show = useShow()
  const [isEditing, setEditing] = useState(false)
  const test = useMutation({ mutationFn: () => testProvider(provider.id) })
  const drain = useMutation({
    mutationFn: () => setState(provider.id, provider.state === 'drained' ? 'serving' : 'drained'),
  })
  const resume = useMutation({ mutationFn: () => resumeProvider(provider.id) })
  const remove = useMutation({ mutationFn: () => removeProvider(provider.id), onSuccess: onClose })
  const { succeeded, failed, last_failure: failure } = provider.since_start
  if (isEditing)
    return <ProviderForm before={provider} onDone={() => setEditing(false)} onCancel={() => setEditing(false)} />
  const error = test.error ?? drain.error ?? resume.error ?? remove.error
  return (
    <div className="space-y-5">
      <Declared origin={provider.origin} />
      {error && <Failure error={error} />}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" icon="plug" busy={test.isPending} onClick={() => test.mutate()}>
          {t('providers.test')}
        </Button>
        <Button busy={drain.isPending} onClick={() => drain.mutate()}>
          {t(provider.state === 'drained' ? 'providers.serve' : 'providers.drain')}
        </Button>
        {provider.resting_offers > 0 && (
          <Button busy={resume.isPending} onClick={() => resume.mutate()}>
            {t('providers.resume')}
          </Button>
        )}
        {provider.origin === 'stored' && <Button onClick={() => setEditing(true)}>{t('keys.edit')}</Button>}
      </div>
      {test.data && <TestResult tested={test.data} />}
      <Facts
        rows={[
          [t('column.status'), <ProviderState key="state" provider={provider} />],
          [t('providers.preset'), provider.preset === 'custom' ? t('providers.custom') : provider.preset],
          [
            t('providers.url'),
            <code key="url" className="font-mono text-xs break-all">
              {provider.base_url}
            </code>,
          ],
          [t('providers.key'), t(provider.has_key ? 'providers.hasKey' : 'providers.noKey')],
          [t('providers.offers'), show.number(provider.offers)],
          [
            t('providers.sinceStart'),
            t('providers.counts', { ok: show.number(succeeded), failed: show.number(failed) }),
          ],
        ]}
      />
      {failure && <LastFailure failure={failure} />}
      {provider.origin === 'stored' && (
        <Remove what={t('providers.removeText')} isBusy={remove.isPending} onRemove={() => remove.mutate()} />
      )}
    </div>
  )
}

function LastFailure({ failure }: { readonly failure: NonNullable<Provider['since_start']['last_failure']> }) {
  const t = useT()
  return (
    <section>
      <h3 className="mb-2 border-b pb-1 font-semibold">{t('providers.lastFailure')}</h3>
      <p className="text-soft">
        {[failure.result, failure.status].filter(Boolean).join(' · ')} · <Ago at={failure.at} />
      </p>
      {failure.message !== '' && (
        <pre
          tabIndex={0}
          aria-label={t('providers.lastFailure')}
          className="mt-1 max-h-40 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs break-words whitespace-pre-wrap"
        >
          {failure.message}
        </pre>
      )}
    </section>
  )
}

function TestResult({ tested }: { readonly tested: Tested }) {
  const t = useT()
  const took = duration(tested.took_ms)
  if (!tested.ok)
    return (
      <Note kind="bad">
        {t('providers.testFailed', { took, why: tested.problem ?? `HTTP ${tested.status ?? '?'}` })}
      </Note>
    )
  return (
    <Note kind="good">
      {t('providers.testOk', { took, n: tested.models.length })}
      {tested.models.length > 0 && (
        <details className="mt-1">
          <summary className="min-h-6">{t('providers.testModels')}</summary>
          <ul className="max-h-40 overflow-y-auto font-mono text-xs">
            {tested.models.map((id) => (
              <li key={id}>{id}</li>
            ))}
          </ul>
        </details>
      )}
    </Note>
  )
}
