/** People who can sign in: those of an account, or all. */
import { useMutation } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import type { Bodies, InvitedUser, User } from '../lib/api-types.gen.ts'
import { api, path } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { listQuery, useRows } from '../lib/lists.ts'
import { only } from '../lib/search.ts'
import { useMe, type Role } from '../lib/session.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Dialog, DialogButtons } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { Menu } from '../ui/menu.tsx'
import { Failure, Note } from '../ui/page.tsx'
import { Table, type Column } from '../ui/table.tsx'
import { Ago, CodeBlock, Status } from '../ui/text.tsx'
import { ListPanel } from './list-panel.tsx'
import { StopDialog } from './stop.tsx'

/** The confirmation before a change. */
type PendingChange = { readonly person: User; readonly change: Change }
type Change = Bodies['PATCH /users/{user}'] & { readonly id: string }

/** `base`: `users`, or `accounts/…/users`. */
type Props = { readonly base: string; readonly roles: readonly Role[]; readonly title: string }

export function People({ base, roles, title }: Props) {
  const t = useT()
  const [isInviting, setInviting] = useState(false)
  const [linked, setLinked] = useState<InvitedUser>()
  const [q, setQ] = useState<string>()
  const [asked, setAsked] = useState<PendingChange>()
  const list = useRows(listQuery<User>('people', base, only({ q })))
  const change = useMutation({
    mutationFn: ({ id, ...body }: Change) => api.patch<User>(`${base}/${id}`, body),
    onSuccess: () => setAsked(undefined),
  })
  const ask = (person: User, wanted: Change): void => {
    change.reset()
    // More rights, or restored rights, stop nothing.
    if (wanted.status === 'disabled' || wanted.role === 'member') setAsked({ person, change: wanted })
    else change.mutate(wanted)
  }
  const reset = useMutation({
    mutationFn: (id: string) => api.post<InvitedUser>(`${base}/${id}/reset`),
    onSuccess: setLinked,
  })
  return (
    <>
      <ListPanel
        title={title}
        add={t('people.invite')}
        onAdd={() => setInviting(true)}
        list={list}
        search={q}
        onSearch={setQ}
        lookUpAt={base === 'users' ? 'secrets/lookup' : undefined}
        empty={t('people.empty')}
        problem={(asked ? null : change.error) ?? reset.error}
      >
        {(people) => (
          <PeopleTable people={people} label={title} isOfAll={base === 'users'} onChange={ask} onReset={reset.mutate} />
        )}
      </ListPanel>
      <Question
        base={base}
        asked={asked}
        isBusy={change.isPending}
        error={change.error}
        onClose={() => setAsked(undefined)}
        onDo={change.mutate}
      />
      <Dialog open={isInviting} onClose={() => setInviting(false)} title={t('people.invite')}>
        <InviteForm
          base={base}
          roles={roles}
          onDone={(person) => {
            setInviting(false)
            setLinked(person)
          }}
          onCancel={() => setInviting(false)}
        />
      </Dialog>
      <Dialog
        open={linked !== undefined}
        onClose={() => setLinked(undefined)}
        title={t('people.link', { name: linked?.name ?? '' })}
      >
        {linked && <Linked person={linked} onClose={() => setLinked(undefined)} />}
      </Dialog>
    </>
  )
}

type QuestionProps = {
  readonly base: string
  readonly asked: PendingChange | undefined
  readonly isBusy: boolean
  readonly error: Error | null
  readonly onClose: () => void
  readonly onDo: (change: Change) => void
}

function Question({ base, asked, onDo, ...rest }: QuestionProps) {
  const t = useT()
  const isDisabling = asked?.change.status !== undefined
  return (
    <StopDialog
      {...rest}
      open={asked !== undefined}
      title={t(isDisabling ? 'people.disableTitle' : 'people.demoteTitle', { name: asked?.person.name ?? '' })}
      text={t(isDisabling ? 'people.disableText' : 'people.demoteText')}
      of={asked && `${base}/${asked.person.id}`}
      action={t(isDisabling ? 'people.disable' : 'people.make.member')}
      onStop={() => asked && onDo(asked.change)}
    />
  )
}

type TableProps = {
  readonly people: readonly User[]
  readonly label: string
  /** The list has people of all accounts, so each row names the account. */
  readonly isOfAll: boolean
  readonly onChange: (person: User, change: Change) => void
  readonly onReset: (id: string) => void
}

function PeopleTable({ people, label, isOfAll, onChange, onReset }: TableProps) {
  const t = useT()
  const tones = { invited: 'busy', active: 'good', disabled: 'none' } as const
  const account: Column<User> = {
    key: 'account',
    head: t('shell.account'),
    isOptional: true,
    className: 'max-w-48 truncate',
    cell: ({ account_name: name }) => (name === null ? '—' : <span title={name}>{name}</span>),
  }
  return (
    <Table
      label={label}
      rows={people}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'name',
          head: t('column.name'),
          className: 'max-w-32 truncate font-medium sm:max-w-56',
          cell: ({ name }) => <span title={name}>{name}</span>,
        },
        {
          key: 'role',
          head: t('people.role'),
          className: 'whitespace-nowrap',
          cell: ({ role }) => t(`role.${role}`),
        },
        ...(isOfAll ? [account] : []),
        {
          key: 'status',
          head: t('column.status'),
          cell: ({ status }) => <Status tone={tones[status]}>{t(`people.${status}`)}</Status>,
        },
        {
          key: 'created',
          head: t('column.created'),
          isOptional: true,
          cell: (person) => <Ago at={person.created_at} />,
        },
        {
          key: 'do',
          head: <span className="sr-only">{t('column.do')}</span>,
          align: 'right',
          cell: (person) => <PersonMenu person={person} onChange={onChange} onReset={onReset} />,
        },
      ]}
    />
  )
}

type MenuProps = Pick<TableProps, 'onChange' | 'onReset'> & { readonly person: User }

function PersonMenu({ person, onChange, onReset }: MenuProps) {
  const t = useT()
  const me = useMe()
  const { id, role, status, name } = person
  if (id === me.user.id) return <span className="text-soft">{t('people.you')}</span>
  const other = role === 'owner' ? 'member' : 'owner'
  return (
    <Menu
      trigger={<IconButton icon="more" label={t('people.menu', { name })} className="-my-1 align-middle" />}
      groups={[
        [
          ...(role === 'operator'
            ? []
            : [{ label: t(`people.make.${other}`), onPick: () => onChange(person, { id, role: other }) }]),
          { label: t('people.reset'), onPick: () => onReset(id) },
        ],
        [
          status === 'disabled'
            ? { label: t('people.enable'), onPick: () => onChange(person, { id, status: 'active' }) }
            : {
                label: t('people.disable'),
                kind: 'danger',
                onPick: () => onChange(person, { id, status: 'disabled' }),
              },
        ],
      ]}
    />
  )
}

type InviteProps = Omit<Props, 'title'> & {
  readonly onDone: (person: InvitedUser) => void
  readonly onCancel: () => void
}

function InviteForm({ base, roles, onDone, onCancel }: InviteProps) {
  const t = useT()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>(roles[0] ?? 'member')
  const invite = useMutation({
    mutationFn: () => api.post<InvitedUser>(base, { name: name.trim(), role }),
    onSuccess: onDone,
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    invite.mutate()
  }
  return (
    <form onSubmit={submit} className="space-y-3">
      {invite.error && <Failure error={invite.error} />}
      <TextField
        label={t('column.name')}
        hint={t('people.nameHint')}
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoFocus
        required
      />
      {roles.length > 1 && (
        <SelectField
          label={t('people.role')}
          hint={t(`role.${role}.hint`)}
          value={role}
          onChoose={setRole}
          choices={roles.map((value) => ({ value, label: t(`role.${value}`) }))}
        />
      )}
      <DialogButtons>
        <Button onClick={onCancel}>{t('cancel')}</Button>
        <Button kind="primary" type="submit" busy={invite.isPending}>
          {t('people.invite')}
        </Button>
      </DialogButtons>
    </form>
  )
}

function Linked({ person, onClose }: { readonly person: InvitedUser; readonly onClose: () => void }) {
  const t = useT()
  // The URL is relative to this page, so it works behind a path prefix.
  const link = new URL(person.setup_path.replace('/console/', ''), document.baseURI).href
  return (
    <div className="space-y-3">
      <Note>{t('people.linkHint')}</Note>
      <CodeBlock label={t('people.link', { name: person.name })} text={link} isWrapped />
      <DialogButtons>
        <Button kind="primary" onClick={onClose}>
          {t('keys.done')}
        </Button>
      </DialogButtons>
    </div>
  )
}

export const peopleOf = (account: string): string => path`accounts/${account}/users`
