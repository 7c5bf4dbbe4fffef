import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { ApiKey } from '../lib/api-types.gen.ts'
import { CreateKey } from '../features/keys/create-key.tsx'
import { KeyForm } from '../features/keys/key-form.tsx'
import { KeyTable } from '../features/keys/key-table.tsx'
import { changeKey, keyQuery, keysQuery, type KeyDraft } from '../features/keys/api.ts'
import { RevokeKey } from '../features/keys/revoke-key.tsx'
import { path } from '../lib/api.ts'
import { editing } from '../lib/editing.ts'
import { useT } from '../lib/language.ts'
import { useRows } from '../lib/lists.ts'
import { only } from '../lib/search.ts'
import { useCanWrite } from '../lib/session.ts'
import { ListFoot } from '../parts/list-foot.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Select } from '../ui/field.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

export function KeysPage() {
  const t = useT()
  const canWrite = useCanWrite()
  const { account } = useParams({ from: '/inside/a/$account/keys' })
  const { dialog, key: openId, q, status } = useSearch({ from: '/inside/a/$account/keys' })
  const navigate = useNavigate({ from: '/a/$account/keys' })
  const [revoking, setRevoking] = useState<ApiKey>()
  const filter = only({ q, status })
  const list = useRows(keysQuery(account, filter))
  const { data: open, error: missing } = useQuery({ ...keyQuery(account, openId ?? ''), enabled: openId !== undefined })
  const go = (search: { dialog?: 'new'; key?: string }): void => void navigate({ search: { ...filter, ...search } })
  const { rows } = list
  const create = canWrite && (
    <Button kind="primary" icon="plus" onClick={() => go({ dialog: 'new' })}>
      {t('keys.create')}
    </Button>
  )
  const isFiltered = q !== undefined || status !== undefined
  return (
    <>
      <PageHead title={t('nav.keys')} hint={t('keys.hint')}>
        <SearchField
          name={t('keys.search')}
          value={q}
          lookUpAt={path`accounts/${account}/secrets/lookup`}
          onSearch={(next) => void navigate({ search: only({ status, q: next }), replace: true })}
        />
        <Select
          name={t('column.status')}
          className="!w-auto"
          value={status ?? ''}
          choices={[
            { value: '', label: t('filter.anyStatus') },
            { value: 'active', label: t('keys.active') },
            { value: 'revoked', label: t('keys.revoked') },
          ]}
          onChoose={(next) => void navigate({ search: only({ q, status: next || undefined }), replace: true })}
        />
        {create}
      </PageHead>
      {list.error && <Failure error={list.error} onRetry={list.refetch} />}
      {openId !== undefined && missing && <Failure error={missing} />}
      {!rows && !list.error && <Waiting />}
      {rows && (
        <Panel isFlush>
          {rows.length === 0 ? (
            <Empty action={!isFiltered && create}>{t(isFiltered ? 'keys.noneFit' : 'keys.empty')}</Empty>
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
      <ListFoot list={list} />
      {canWrite && <CreateKey account={account} open={dialog === 'new'} onClose={() => go({})} />}
      <EditKey
        account={account}
        apiKey={openId === undefined || open?.id !== openId ? undefined : open}
        onClose={() => go({})}
      />
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
