import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Provider, ProviderTest } from '../../lib/api-types.gen.ts'
import { path } from '../../lib/api.ts'
import { useT } from '../../lib/language.ts'
import { useShow } from '../../lib/show.ts'
import { duration } from '../../lib/time.ts'
import { Declared } from '../../parts/declared.tsx'
import { StopDialog } from '../../parts/stop.tsx'
import { Button } from '../../ui/button.tsx'
import { Facts, Failure, Note } from '../../ui/page.tsx'
import { Ago, Status } from '../../ui/text.tsx'
import { KeyPanel } from './key-panel.tsx'
import { ProviderForm } from './provider-form.tsx'
import { ProviderState } from './provider-table.tsx'
import { removeProvider, resumeProvider, setState, testProvider } from './api.ts'

type Props = { readonly provider: Provider; readonly onClose: () => void }

export function ProviderView({ provider, onClose }: Props) {
  const t = useT()
  const [isEditing, setEditing] = useState(false)
  const test = useMutation({ mutationFn: () => testProvider(provider.id) })
  const [asking, setAsking] = useState<'drain' | 'remove'>()
  const isDrained = provider.state === 'drained'
  const drain = useMutation({
    mutationFn: () => setState(provider.id, isDrained ? 'serving' : 'drained'),
    onSuccess: () => setAsking(undefined),
  })
  const resume = useMutation({ mutationFn: () => resumeProvider(provider.id) })
  const remove = useMutation({ mutationFn: () => removeProvider(provider.id), onSuccess: onClose })
  const { last_failure: failure } = provider.since_start
  if (isEditing)
    return <ProviderForm before={provider} onDone={() => setEditing(false)} onCancel={() => setEditing(false)} />
  const error = test.error ?? (asking ? null : drain.error) ?? resume.error
  return (
    <div className="space-y-5">
      <Declared origin={provider.origin} />
      {error && <Failure error={error} />}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" icon="plug" busy={test.isPending} onClick={() => test.mutate()}>
          {t('providers.test')}
        </Button>
        <Button busy={drain.isPending} onClick={() => (isDrained ? drain.mutate() : setAsking('drain'))}>
          {t(isDrained ? 'providers.serve' : 'providers.drain')}
        </Button>
        {provider.resting_offers > 0 && (
          <Button busy={resume.isPending} onClick={() => resume.mutate()}>
            {t('providers.resume')}
          </Button>
        )}
        {provider.origin === 'stored' && <Button onClick={() => setEditing(true)}>{t('keys.edit')}</Button>}
      </div>
      {test.data && <TestResult tested={test.data} />}
      <ProviderFacts provider={provider} />
      {provider.has_key && <KeyPanel provider={provider} />}
      {failure && <LastFailure failure={failure} />}
      {provider.origin === 'stored' && (
        <div className="border-t pt-4">
          <Button kind="danger" onClick={() => setAsking('remove')}>
            {t('remove')}
          </Button>
        </div>
      )}
      <StopDialog
        open={asking !== undefined}
        onClose={() => setAsking(undefined)}
        title={t(asking === 'remove' ? 'providers.removeTitle' : 'providers.drainTitle', { name: provider.id })}
        text={t(asking === 'remove' ? 'providers.removeText' : 'providers.drainText')}
        of={path`providers/${provider.id}`}
        action={t(asking === 'remove' ? 'remove' : 'providers.drain')}
        isBusy={drain.isPending || remove.isPending}
        error={asking === 'remove' ? remove.error : drain.error}
        onStop={() => (asking === 'remove' ? remove : drain).mutate()}
      />
    </div>
  )
}

function ProviderFacts({ provider }: Pick<Props, 'provider'>) {
  const t = useT()
  const show = useShow()
  const { succeeded, failed } = provider.since_start
  return (
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
        ...(provider.proxy === null ? [] : [[t('providers.proxy'), provider.proxy] as const]),
        ...(provider.headers.length === 0 ? [] : [[t('providers.headers'), provider.headers.join(', ')] as const]),
        ...(provider.query.length === 0 ? [] : [[t('providers.query'), provider.query.join(', ')] as const]),
        [t('providers.lastTest'), <LastTest key="test" test={provider.last_test} />],
        [t('providers.offers'), show.number(provider.offers)],
        [t('providers.sinceStart'), t('providers.counts', { ok: show.number(succeeded), failed: show.number(failed) })],
      ]}
    />
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

function LastTest({ test }: { readonly test: Provider['last_test'] }) {
  const t = useT()
  if (!test) return t('providers.untested')
  return (
    <>
      <Status tone={test.ok ? 'good' : 'bad'}>{t(test.ok ? 'providers.passed' : 'providers.failedTest')}</Status>{' '}
      <Ago at={test.at} />
      {test.problem !== null && <span className="block text-xs break-words text-soft">{test.problem}</span>}
    </>
  )
}

function TestResult({ tested }: { readonly tested: ProviderTest }) {
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
