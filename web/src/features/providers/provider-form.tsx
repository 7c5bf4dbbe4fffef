import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import type { Provider } from '../../lib/api-types.gen.ts'
import { editing } from '../../lib/editing.ts'
import { useT } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { DialogButtons } from '../../ui/dialog.tsx'
import { Checkbox, SelectField, TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/page.tsx'
import { addProvider, changeProvider, presetsQuery, type ProviderDraft } from './api.ts'
import { connectionChanges, draftOfConnection } from './connection-draft.ts'
import { ConnectionFields } from './connection-fields.tsx'

type Props = { readonly before?: Provider; readonly onDone: (id: string) => void; readonly onCancel: () => void }

type TypedProvider = { readonly baseUrl: string; readonly isPrivate: boolean; readonly most: number }

/** The fields that were changed. */
const changesOf = (before: Provider | undefined, { baseUrl, isPrivate, most }: TypedProvider): ProviderDraft => ({
  ...(baseUrl === (before?.base_url ?? '') ? {} : { base_url: baseUrl || null }),
  ...(isPrivate === (before?.allow_private ?? false) ? {} : { allow_private: isPrivate }),
  ...(most === (before?.concurrent_requests ?? 0) ? {} : { concurrent_requests: most || null }),
})

/** A connection to a vendor. The key is write-only. */
export function ProviderForm({ before, onDone, onCancel }: Props) {
  const t = useT()
  const [id, setId] = useState(before?.id ?? '')
  const [preset, setPreset] = useState(before?.preset ?? 'custom')
  const [baseUrl, setBaseUrl] = useState(before?.base_url ?? '')
  const [key, setKey] = useState('')
  const [isForgotten, setForgotten] = useState(false)
  const [isPrivate, setPrivate] = useState(before?.allow_private ?? false)
  const [most, setMost] = useState(String(before?.concurrent_requests ?? ''))
  const [connection, setConnection] = useState(() => draftOfConnection(before))
  const { data: presets } = useQuery(presetsQuery)
  const known = presets?.data.find((one) => one.id === preset)
  const save = useMutation({
    meta: editing,
    mutationFn: () => {
      const typed = changesOf(before, { baseUrl: baseUrl.trim(), isPrivate, most: Number(most) })
      const settings = { ...typed, ...connectionChanges(connection, before) }
      const draft = { ...settings, ...(isForgotten ? { key: null } : key === '' ? {} : { key }) }
      return before ? changeProvider(before.id, draft) : addProvider(id.trim(), { preset, ...draft })
    },
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    save.mutate(undefined, { onSuccess: (provider) => onDone(provider.id) })
  }
  return (
    <form onSubmit={submit} className="space-y-3">
      {save.error && <Failure error={save.error} />}
      {!before && <Kind id={id} onId={setId} preset={preset} onPreset={setPreset} />}
      <TextField
        label={t('providers.url')}
        type="url"
        placeholder={known?.base_url ?? 'https://…/v1'}
        value={baseUrl}
        onChange={(event) => setBaseUrl(event.target.value)}
        required={known?.base_url === null}
        hint={before ? t('providers.urlHint') : undefined}
      />
      <KeyFields
        hasKey={before?.has_key ?? false}
        value={key}
        onType={setKey}
        isForgotten={isForgotten}
        onForget={setForgotten}
      />
      <Checkbox
        label={t('providers.private')}
        hint={t('providers.privateHint')}
        checked={isPrivate}
        onChange={(event) => setPrivate(event.target.checked)}
      />
      <TextField
        label={t('limit.concurrent')}
        hint={t('providers.concurrentHint')}
        inputMode="numeric"
        pattern="[1-9][0-9]{0,8}"
        value={most}
        onChange={(event) => setMost(event.target.value.trim())}
      />
      <ConnectionFields before={before} draft={connection} onChange={setConnection} />
      <DialogButtons>
        <Button onClick={onCancel}>{t('cancel')}</Button>
        <Button kind="primary" type="submit" busy={save.isPending}>
          {before ? t('save') : t('providers.add')}
        </Button>
      </DialogButtons>
    </form>
  )
}

type KeyProps = {
  /** Whether a key is stored. */
  readonly hasKey: boolean
  readonly value: string
  readonly onType: (key: string) => void
  readonly isForgotten: boolean
  readonly onForget: (isForgotten: boolean) => void
}

function KeyFields({ hasKey, value, onType, isForgotten, onForget }: KeyProps) {
  const t = useT()
  return (
    <>
      <TextField
        label={t('providers.key')}
        type="password"
        autoComplete="off"
        value={value}
        onChange={(event) => onType(event.target.value)}
        hint={hasKey ? t('providers.keyStays') : t('providers.keyHint')}
        disabled={isForgotten}
      />
      {hasKey && (
        <Checkbox
          label={t('providers.forgetKey')}
          checked={isForgotten}
          onChange={(event) => onForget(event.target.checked)}
        />
      )}
    </>
  )
}

type KindProps = {
  readonly id: string
  readonly onId: (id: string) => void
  readonly preset: string
  readonly onPreset: (preset: string) => void
}

/** The vendor and the provider id. The id is the vendor's name until another one is typed. */
function Kind({ id, onId, preset, onPreset }: KindProps) {
  const t = useT()
  const { data: presets } = useQuery(presetsQuery)
  const choices = presets?.data.map((one) => ({
    value: one.id,
    label: one.id === 'custom' ? t('providers.custom') : one.label,
  }))
  return (
    <>
      <SelectField
        label={t('providers.preset')}
        value={preset}
        autoFocus
        choices={choices ?? [{ value: preset, label: preset }]}
        onChoose={(value) => {
          onPreset(value)
          if (id === '' || id === preset) onId(value === 'custom' ? '' : value)
        }}
      />
      <TextField
        label={t('providers.id')}
        hint={t('providers.idHint')}
        value={id}
        onChange={(event) => onId(event.target.value)}
        pattern="[a-z0-9][a-z0-9_\-]{0,62}"
        required
      />
    </>
  )
}
