import { useMutation } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import type { Provider } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { useShow } from '../../lib/show.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/page.tsx'
import { Ago, Status } from '../../ui/text.tsx'
import { addProviderKey, removeProviderKey } from './api.ts'

type Props = { readonly provider: Provider }

/** The keys of a provider that are used in turn. The first one that is added stands beside the provider's own. */
export function KeyPanel({ provider }: Props) {
  const t = useT()
  const [key, setKey] = useState('')
  const add = useMutation({
    mutationFn: () => addProviderKey(provider.id, { key }),
    onSuccess: () => setKey(''),
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    add.mutate()
  }
  return (
    <section className="space-y-3">
      <h3 className="border-b pb-1 font-semibold">{t('providers.keys')}</h3>
      {provider.keys.length > 0 && (
        <ul className="space-y-1">
          {provider.keys.map((one) => (
            <KeyRow key={one.id} provider={provider} one={one} />
          ))}
        </ul>
      )}
      {provider.origin === 'stored' && (
        <form onSubmit={submit} className="flex flex-wrap items-end gap-2">
          {add.error && <Failure error={add.error} />}
          <div className="min-w-0 grow">
            <TextField
              label={t('providers.anotherKey')}
              type="password"
              autoComplete="off"
              value={key}
              required
              onChange={(event) => setKey(event.target.value)}
            />
          </div>
          <Button type="submit" busy={add.isPending}>
            {t('providers.addKey')}
          </Button>
        </form>
      )}
    </section>
  )
}

function KeyRow({ provider, one }: Props & { readonly one: Provider['keys'][number] }) {
  const t = useT()
  const show = useShow()
  const remove = useMutation({ mutationFn: () => removeProviderKey(provider.id, one.id) })
  return (
    <li className="flex flex-wrap items-center gap-2">
      <code className="font-mono text-xs">{one.id}</code>
      {one.rests_until === null ? (
        <Status tone="good">{t('providers.serving')}</Status>
      ) : (
        <Status tone="bad">
          {t('providers.keyRests', { why: one.reason ?? '' })} <Ago at={one.rests_until} />
        </Status>
      )}
      <span className="grow text-soft">{t('providers.inFlight', { n: show.number(one.in_flight) })}</span>
      {provider.origin === 'stored' && provider.keys.length > 1 && (
        <Button busy={remove.isPending} aria-label={`${t('remove')} ${one.id}`} onClick={() => remove.mutate()}>
          {t('remove')}
        </Button>
      )}
      {remove.error && <Failure error={remove.error} />}
    </li>
  )
}
