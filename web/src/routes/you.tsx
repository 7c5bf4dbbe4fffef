import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import type { Answers, Me, Session } from '../lib/api-types.gen.ts'
import { ApiError, api, path } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { sessionQuery, useMe } from '../lib/session.ts'
import { StopDialog } from '../parts/stop.tsx'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { useProblemText } from '../lib/problem.ts'
import { Failure, Note, PageHead, Panel, Waiting } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'
import { Ago, Status } from '../ui/text.tsx'

export function YouPage() {
  const t = useT()
  const { user } = useMe()
  return (
    <>
      <PageHead title={user.name} hint={t(`role.${user.role}`)} />
      <div className="grid gap-4 lg:grid-cols-[1fr_20rem]">
        <Sessions />
        <Panel title={t('you.password')}>
          <Password />
        </Panel>
      </div>
    </>
  )
}

function Sessions() {
  const t = useT()
  const { data, error, refetch } = useQuery({
    queryKey: ['sessions'],
    queryFn: () => api.get<Answers['GET /sessions']>('sessions'),
  })
  const [ending, setEnding] = useState<Session>()
  const end = useMutation({
    mutationFn: ({ id }: Session) => api.remove(path`sessions/${id}`),
    onSuccess: () => setEnding(undefined),
  })
  const ask = (session: Session): void => {
    end.reset()
    setEnding(session)
  }
  return (
    <Panel isFlush title={t('you.sessions')}>
      {error && <Failure error={error} onRetry={refetch} />}
      {!data && !error && <Waiting />}
      {data && <SessionTable sessions={data.data} onEnd={ask} />}
      <StopDialog
        open={ending !== undefined}
        onClose={() => setEnding(undefined)}
        title={t('you.endTitle', { name: browserOf(ending?.agent ?? '') })}
        text={t('you.endText', { address: ending?.address ?? '' })}
        action={t('shell.signOut')}
        isBusy={end.isPending}
        error={end.error}
        onStop={() => ending && end.mutate(ending)}
      />
    </Panel>
  )
}

type TableProps = { readonly sessions: readonly Session[]; readonly onEnd: (session: Session) => void }

function SessionTable({ sessions, onEnd }: TableProps) {
  const t = useT()
  return (
    <Table
      label={t('you.sessions')}
      rows={sessions}
      keyOf={({ id }) => id}
      columns={[
        {
          key: 'agent',
          head: t('you.browser'),
          className: 'max-w-36 truncate sm:max-w-64',
          cell: ({ agent, address }) => (
            <>
              <span title={agent}>{browserOf(agent)}</span>
              <code className="block truncate font-mono text-xs text-soft md:hidden">{address}</code>
            </>
          ),
        },
        {
          key: 'address',
          head: t('you.address'),
          isOptional: true,
          cell: ({ address }) => <code className="font-mono text-xs">{address}</code>,
        },
        { key: 'seen', head: t('you.seen'), cell: (session) => <Ago at={session.seen_at} /> },
        {
          key: 'created',
          head: t('you.since'),
          isOptional: true,
          cell: (session) => <Ago at={session.created_at} />,
        },
        {
          key: 'do',
          head: <span className="sr-only">{t('column.do')}</span>,
          align: 'right',
          cell: (session) =>
            session.current ? (
              <Status tone="good">{t('you.current')}</Status>
            ) : (
              <Button kind="quiet" onClick={() => onEnd(session)}>
                {t('shell.signOut')}
              </Button>
            ),
        },
      ]}
    />
  )
}

/** The common name of a browser, if its user agent shows it. */
function browserOf(agent: string): string {
  const name = /(Edg|Firefox|Chrome|Safari|curl)\//.exec(agent)?.[1]
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(agent)?.[1]
  return name === undefined ? agent || '—' : [name === 'Edg' ? 'Edge' : name, system].filter(Boolean).join(', ')
}

function Password() {
  const t = useT()
  const problemText = useProblemText()
  const client = useQueryClient()
  const { user } = useMe()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const change = useMutation({
    mutationFn: () => api.post<Me>('session/password', { current, password }),
    onSuccess: (me) => {
      client.setQueryData(sessionQuery.queryKey, me)
      setCurrent('')
      setPassword('')
    },
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    change.mutate()
  }
  const wrong =
    change.error instanceof ApiError && change.error.param === 'current' ? problemText(change.error).text : undefined
  return (
    <form onSubmit={submit} className="space-y-3">
      {change.isSuccess && <Note kind="good">{t('you.changed')}</Note>}
      {change.error && wrong === undefined && <Failure error={change.error} />}
      <input type="text" hidden readOnly autoComplete="username" value={user.name} />
      <TextField
        label={t('you.currentPassword')}
        type="password"
        autoComplete="current-password"
        value={current}
        onChange={(event) => setCurrent(event.target.value)}
        error={wrong}
        required
      />
      <TextField
        label={t('setup.password')}
        type="password"
        autoComplete="new-password"
        minLength={10}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        hint={t('you.passwordHint')}
        required
      />
      <Button type="submit" kind="primary" busy={change.isPending}>
        {t('you.change')}
      </Button>
    </form>
  )
}
