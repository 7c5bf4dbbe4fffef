/** Management keys. Their secrets are shown once. */
import { useMutation } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import type { ManagementKey, NewManagementKey } from '../lib/api-types.gen.ts'
import { api } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { listQuery, useRows } from '../lib/lists.ts'
import { only } from '../lib/search.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogButtons } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Failure } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'
import { Ago, CodeBlock, Status } from '../ui/text.tsx'
import { ListPanel } from './list-panel.tsx'
import { StopDialog } from './stop.tsx'

const words = { active: 'keys.active', suspended: 'programs.suspended', revoked: 'keys.revoked' } as const

/** `base`: `management-keys`, or the route of an account. */
export function Programs({ base }: { readonly base: string }) {
  const t = useT()
  const [isMaking, setMaking] = useState(false)
  const [q, setQ] = useState<string>()
  const [revoking, setRevoking] = useState<ManagementKey>()
  const list = useRows(listQuery<ManagementKey>('programs', base, only({ q })))
  const revoke = useMutation({
    mutationFn: (id: string) => api.remove<ManagementKey>(`${base}/${id}`),
    onSuccess: () => setRevoking(undefined),
  })
  return (
    <>
      <ListPanel
        title={t('programs.title')}
        add={t('programs.create')}
        onAdd={() => setMaking(true)}
        list={list}
        search={q}
        onSearch={setQ}
        lookUpAt={base === 'management-keys' ? 'secrets/lookup' : undefined}
        empty={t('programs.empty')}
        problem={null}
      >
        {(programs) => <ProgramTable programs={programs} onRevoke={setRevoking} />}
      </ListPanel>
      <StopDialog
        open={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        title={t('programs.revoke', { name: revoking?.name ?? '' })}
        text={t('programs.revokeText')}
        action={t('keys.revoke')}
        isBusy={revoke.isPending}
        error={revoke.error}
        onStop={() => revoking && revoke.mutate(revoking.id)}
      />
      <NewProgramDialog base={base} open={isMaking} onClose={() => setMaking(false)} />
    </>
  )
}

type TableProps = { readonly programs: readonly ManagementKey[]; readonly onRevoke: (program: ManagementKey) => void }

function ProgramTable({ programs, onRevoke }: TableProps) {
  const t = useT()
  return (
    <Table
      label={t('programs.title')}
      rows={programs}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'name',
          head: t('column.name'),
          className: 'max-w-36 truncate font-medium sm:max-w-56',
          cell: ({ name }) => <span title={name}>{name}</span>,
        },
        {
          key: 'key',
          head: t('column.key'),
          isOptional: true,
          cell: ({ key }) => <code className="font-mono text-xs whitespace-nowrap">{key}</code>,
        },
        {
          key: 'status',
          head: t('column.status'),
          cell: ({ status }) => <Status tone={status === 'active' ? 'good' : 'none'}>{t(words[status])}</Status>,
        },
        {
          key: 'maker',
          head: t('programs.maker'),
          isOptional: true,
          cell: ({ created_by: by }) => by?.name ?? <span className="text-soft">{t('programs.byCommand')}</span>,
        },
        {
          key: 'created',
          head: t('column.created'),
          isOptional: true,
          cell: (program) => <Ago at={program.created_at} />,
        },
        {
          key: 'do',
          head: <span className="sr-only">{t('column.do')}</span>,
          align: 'right',
          cell: (program) =>
            program.status !== 'revoked' && (
              <Button
                kind="quiet_danger"
                className="-my-1 -mr-2 !px-2 align-middle"
                aria-label={t('programs.revoke', { name: program.name })}
                onClick={() => onRevoke(program)}
              >
                {t('keys.revoke')}
              </Button>
            ),
        },
      ]}
    />
  )
}

function NewProgramDialog({
  base,
  open,
  onClose,
}: {
  readonly base: string
  readonly open: boolean
  readonly onClose: () => void
}) {
  const t = useT()
  const [name, setName] = useState('')
  const create = useMutation({ mutationFn: () => api.post<NewManagementKey>(base, { name: name.trim() }) })
  const close = (): void => {
    create.reset()
    setName('')
    onClose()
  }
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <Dialog
      open={open}
      onClose={close}
      title={create.data ? t('keys.made', { name: create.data.name }) : t('programs.create')}
      description={t('programs.hint')}
    >
      {create.data ? (
        <div className="space-y-3">
          <p>{t('programs.once')}</p>
          <CodeBlock label={t('programs.title')} text={create.data.key} onCopy={create.data.secret} />
          <DialogButtons>
            <Button kind="primary" onClick={close}>
              {t('keys.done')}
            </Button>
          </DialogButtons>
        </div>
      ) : (
        <form onSubmit={submit} className="space-y-3">
          {create.error && <Failure error={create.error} />}
          <TextField
            label={t('column.name')}
            value={name}
            onChange={(event) => setName(event.target.value)}
            maxLength={100}
            autoFocus
            required
          />
          <DialogButtons>
            <Button onClick={close}>{t('cancel')}</Button>
            <Button kind="primary" type="submit" busy={create.isPending}>
              {t('programs.create')}
            </Button>
          </DialogButtons>
        </form>
      )}
    </Dialog>
  )
}
