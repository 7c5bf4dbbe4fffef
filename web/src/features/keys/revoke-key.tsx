import { useMutation } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import type { ApiKey } from '../../lib/api-types.gen.ts'
import { path } from '../../lib/api.ts'
import { useT } from '../../lib/language.ts'
import { WhatStops } from '../../parts/stop.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/page.tsx'
import { revokeKey } from './api.ts'
import { useUsedHour } from './used-hour.ts'

type Props = { readonly account: string; readonly apiKey: ApiKey | undefined; readonly onClose: () => void }

/** Revoking cannot be undone, so the name has to be typed. The last use shows whether it is still needed. */
export function RevokeKey({ account, apiKey, onClose }: Props) {
  const t = useT()
  return (
    <Dialog open={apiKey !== undefined} onClose={onClose} title={t('keys.revokeTitle', { name: apiKey?.name ?? '' })}>
      {apiKey && <Confirm account={account} apiKey={apiKey} onClose={onClose} />}
    </Dialog>
  )
}

function Confirm({ account, apiKey, onClose }: Props & { readonly apiKey: ApiKey }) {
  const t = useT()
  const { ago } = useUsedHour()
  const [typed, setTyped] = useState('')
  const revoke = useMutation({ mutationFn: () => revokeKey(account, apiKey.id), onSuccess: onClose })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (typed.trim() === apiKey.name) revoke.mutate()
  }
  return (
    <form onSubmit={submit} className="space-y-3">
      {revoke.error && <Failure error={revoke.error} />}
      <p>{t('keys.revokeText')}</p>
      <p className="text-soft">
        {apiKey.last_used_at ? t('keys.revokeUsed', { when: ago(apiKey.last_used_at) }) : t('keys.revokeUnused')}
      </p>
      <WhatStops of={path`accounts/${account}/keys/${apiKey.id}`} />
      <TextField
        label={t('keys.typeName', { name: apiKey.name })}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        autoComplete="off"
        autoFocus
        required
      />
      <DialogButtons>
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button kind="danger" type="submit" busy={revoke.isPending} disabled={typed.trim() !== apiKey.name}>
          {t('keys.revoke')}
        </Button>
      </DialogButtons>
    </form>
  )
}
