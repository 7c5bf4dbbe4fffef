import { queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { AuditEntry } from '../lib/api-types.gen.ts'
import { api, path } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { listQuery, useRows } from '../lib/lists.ts'
import { only } from '../lib/search.ts'
import { ListFoot } from '../parts/list-foot.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Drawer } from '../ui/dialog.tsx'
import { Empty, Facts, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'
import { Table } from '../ui/table.tsx'
import { Ago, CodeBlock, Id, Nothing, Status, Time } from '../ui/text.tsx'

const entryQuery = (id: string) =>
  queryOptions({
    queryKey: ['audit-entry', id],
    queryFn: () => api.get<AuditEntry>(path`audit/${id}`),
    staleTime: 5_000,
  })

export function AuditPage() {
  const t = useT()
  const { open, q } = useSearch({ from: '/inside/operator/audit' })
  const navigate = useNavigate({ from: '/operator/audit' })
  const list = useRows(listQuery<AuditEntry>('audit', 'audit', only({ subject: q })))
  const { rows: entries, error, refetch } = list
  const listed = entries?.find(({ id }) => id === open)
  // A URL may name an entry that is on no loaded page.
  const lookUp = useQuery({ ...entryQuery(open ?? ''), enabled: open !== undefined && !listed })
  const entry = listed ?? (lookUp.data?.id === open ? lookUp.data : undefined)
  const show = (id: string | undefined): void => void navigate({ search: only({ q, open: id }) })
  return (
    <>
      <PageHead title={t('nav.audit')} hint={t('audit.hint')}>
        <SearchField
          name={t('audit.subject')}
          value={q}
          lookUpAt="secrets/lookup"
          onSearch={(next) => void navigate({ search: only({ q: next }), replace: true })}
        />
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!entries && !error && <Waiting />}
      {entries && (
        <Panel isFlush>
          {entries.length > 0 ? (
            <Entries entries={entries} onOpen={show} />
          ) : (
            <Empty>{t(q === undefined ? 'audit.empty' : 'audit.noneFit')}</Empty>
          )}
        </Panel>
      )}
      <ListFoot list={list} />
      <Drawer open={open !== undefined} onClose={() => show(undefined)} title={entry?.action ?? t('nav.audit')}>
        {entry && <EntryView entry={entry} />}
        {!entry && (lookUp.error ? <Failure error={lookUp.error} onRetry={lookUp.refetch} /> : <Waiting />)}
      </Drawer>
    </>
  )
}

const hasFailed = (outcome: AuditEntry['outcome']): outcome is string => outcome !== null && outcome !== 'done'

function Outcome({ outcome }: Pick<AuditEntry, 'outcome'>) {
  const t = useT()
  if (hasFailed(outcome)) return <Status tone="bad">{outcome}</Status>
  return outcome === null ? (
    <Status tone="busy">{t('audit.open')}</Status>
  ) : (
    <Status tone="good">{t('audit.done')}</Status>
  )
}

function useActor(): (actor: AuditEntry['actor']) => string {
  const t = useT()
  return ({ kind, name }) =>
    kind === 'user' ? (name ?? '') : name === null ? t(`actor.${kind}`) : `${name} (${t(`actor.${kind}`)})`
}

function Entries({
  entries,
  onOpen,
}: {
  readonly entries: readonly AuditEntry[]
  readonly onOpen: (id: string) => void
}) {
  const t = useT()
  const actorOf = useActor()
  return (
    <Table
      label={t('nav.audit')}
      rows={entries}
      keyOf={({ id }) => id}
      columns={[
        { key: 'at', head: t('column.time'), cell: (entry) => <Ago at={entry.at} /> },
        {
          key: 'actor',
          head: t('audit.who'),
          className: 'max-w-20 truncate sm:max-w-48',
          cell: (entry) => <span title={actorOf(entry.actor)}>{actorOf(entry.actor)}</span>,
        },
        {
          key: 'action',
          head: t('audit.what'),
          className: 'max-w-36 sm:max-w-none',
          cell: ({ id, action, outcome }) => (
            <span className="flex items-center gap-1">
              <button
                type="button"
                title={action}
                aria-label={t('audit.show', { action })}
                onClick={() => onOpen(id)}
                className="min-h-6 min-w-0 truncate font-mono text-xs hover:text-accent hover:underline"
              >
                {action}
              </button>
              {/* A phone shows only that an action failed. */}
              {hasFailed(outcome) && (
                <span title={outcome} className="md:hidden">
                  <Status tone="bad" isShort>
                    {outcome}
                  </Status>
                </span>
              )}
            </span>
          ),
        },
        {
          key: 'subject',
          head: t('audit.subject'),
          isOptional: true,
          cell: ({ subject }) => (subject === null ? <Nothing /> : <Id id={subject} />),
        },
        {
          key: 'outcome',
          head: t('column.status'),
          isOptional: true,
          cell: (entry) => <Outcome outcome={entry.outcome} />,
        },
      ]}
    />
  )
}

function EntryView({ entry }: { readonly entry: AuditEntry }) {
  const t = useT()
  const actorOf = useActor()
  const values = (['input', 'before', 'after'] as const).filter(
    (name) => entry[name] !== null && entry[name] !== undefined,
  )
  return (
    <div className="space-y-5">
      <Facts
        rows={[
          [t('column.time'), <Time key="at" at={entry.at} shape="withSeconds" />],
          [t('audit.who'), actorOf(entry.actor)],
          [t('you.address'), entry.actor.address ?? <Nothing key="address" />],
          [
            t('audit.subject'),
            entry.subject === null ? (
              <Nothing key="subject" />
            ) : (
              <Id key="subject" id={entry.subject} isShort={false} />
            ),
          ],
          [t('column.status'), <Outcome key="outcome" outcome={entry.outcome} />],
          [
            t('audit.request'),
            entry.request === null ? (
              <Nothing key="request" />
            ) : (
              <Id key="request" id={entry.request} isShort={false} />
            ),
          ],
        ]}
      />
      {values.map((name) => (
        <section key={name}>
          <h3 className="mb-1 font-semibold">{t(`audit.${name}`)}</h3>
          <CodeBlock label={t(`audit.${name}`)} text={JSON.stringify(entry[name], null, 2)} />
        </section>
      ))}
    </div>
  )
}
