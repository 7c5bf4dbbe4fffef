import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { CreateKey } from '../features/keys/create-key.tsx'
import { KeyForm } from '../features/keys/key-form.tsx'
import { KeyTable } from '../features/keys/key-table.tsx'
import { changeKey, keysQuery, type ApiKey, type KeyDraft } from '../features/keys/keys.ts'
import { RevokeKey } from '../features/keys/revoke-key.tsx'
import { editing } from '../lib/editing.ts'
import { useT } from '../lib/i18n/language.ts'
import { useCanWrite } from '../lib/session.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

export function KeysPage() {
  const t = useT()
  const canWrite = useCanWrite()
  const { account } = useParams({ from: '/inside/a/$account/keys' })
  const { dialog, key: openId } = useSearch({ from: '/inside/a/$account/keys' })
  const navigate = useNavigate({ from: '/a/$account/keys' })
  const [revoking, setRevoking] = useState<ApiKey>()
  const { data, error, refetch } = useQuery(keysQuery(account))
  const go = (search: { dialog?: 'new'; key?: string }): void => void navigate({ search })
  // What can still be used comes first, the newest of it at the top.
  const rows = data?.data.toSorted(
    (a, b) => a.status.localeCompare(b.status) || b.created_at.localeCompare(a.created_at),
  )
  const create = canWrite && (
    <Button kind="primary" icon="plus" onClick={() => go({ dialog: 'new' })}>
      {t('keys.create')}
    </Button>
  )
  return (
    <>
      <PageHead title={t('nav.keys')} hint={t('keys.hint')}>
        {create}
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!rows && !error && <Waiting />}
      {rows && (
        <Panel isFlush>
          {rows.length === 0 ? (
            <Empty action={create}>{t('keys.empty')}</Empty>
          ) : (
            <KeyTable
              account={account}
              rows={rows}
              onEdit={canWrite ? ({ id }) => go({ key: id }) : undefined}
              onRevoke={setRevoking}
            />
          )}
        </Panel>
      )}
      {canWrite && <CreateKey account={account} open={dialog === 'new'} onClose={() => go({})} />}
      <EditKey account={account} apiKey={rows?.find(({ id }) => id === openId)} onClose={() => go({})} />
      <RevokeKey account={account} apiKey={revoking} onClose={() => setRevoking(undefined)} />
    </>
  )
}

type EditProps = { readonly account: string; readonly apiKey: ApiKey | undefined; readonly onClose: () => void }

function EditKey({ account, apiKey, onClose }: EditProps) {
  const t = useT()
  return (
    <Dialog
      open={apiKey !== undefined}
      onClose={onClose}
      wide
      title={t('keys.editTitle', { name: apiKey?.name ?? '' })}
      description={t('keys.editHint')}
    >
      {apiKey && <EditKeyForm key={apiKey.id} account={account} before={apiKey} onClose={onClose} />}
    </Dialog>
  )
}

type EditFormProps = Pick<EditProps, 'account' | 'onClose'> & { readonly before: ApiKey }

function EditKeyForm({ account, before, onClose }: EditFormProps) {
  const t = useT()
  const change = useMutation({
    meta: editing,
    mutationFn: (draft: KeyDraft) => changeKey(account, before.id, draft),
  })
  return (
    <KeyForm
      account={account}
      before={before}
      submit={t('save')}
      isBusy={change.isPending}
      error={change.error}
      onSubmit={(draft) => change.mutate(draft, { onSuccess: onClose })}
      onCancel={onClose}
    />
  )
}
