import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { TaskTable } from '../features/tasks/task-table.tsx'
import { taskKinds, taskQuery, tasksQuery, type Task } from '../features/tasks/tasks.ts'
import { useT } from '../lib/i18n/language.ts'
import { exact } from '../lib/money.ts'
import { duration } from '../lib/time.ts'
import { Player } from '../parts/player.tsx'
import { TaskProgress } from '../parts/task-progress.tsx'
import { Button, buttonClass } from '../ui/button.tsx'
import { Drawer } from '../ui/dialog.tsx'
import { Segments } from '../ui/field.tsx'
import { Empty, Facts, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'
import { Id, Time } from '../ui/text.tsx'

export function TasksPage() {
  const t = useT()
  const { account } = useParams({ from: '/inside/a/$account/tasks' })
  const { kind, task: openId } = useSearch({ from: '/inside/a/$account/tasks' })
  const navigate = useNavigate({ from: '/a/$account/tasks' })
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    tasksQuery(account, kind),
  )
  const tasks = data?.pages.flatMap((page) => page.data)
  const listed = tasks?.find(({ id }) => id === openId)
  const isElsewhere = openId !== undefined && tasks !== undefined && listed === undefined
  const other = useQuery({ ...taskQuery(account, openId ?? ''), enabled: isElsewhere })
  const open = listed ?? (isElsewhere ? other.data : undefined)
  return (
    <>
      <PageHead title={t('nav.tasks')} hint={t('tasks.hint')}>
        <Segments
          name={t('models.kind')}
          value={kind ?? 'all'}
          choices={[
            { value: 'all', label: t('modelChoice.all') },
            ...taskKinds.map((value) => ({ value, label: t(`kind.${value}`) })),
          ]}
          onChoose={(value) => void navigate({ search: value === 'all' ? {} : { kind: value } })}
        />
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!tasks && !error && <Waiting />}
      {tasks && (
        <Panel isFlush>
          {tasks.length > 0 ? (
            <TaskTable account={account} tasks={tasks} kind={kind} />
          ) : (
            <Empty
              action={
                <Link
                  to="/a/$account/playground"
                  params={{ account }}
                  search={{ kind: kind ?? 'image' }}
                  className={buttonClass('primary')}
                >
                  {t('nav.playground')}
                </Link>
              }
            >
              {t('tasks.empty')}
            </Empty>
          )}
        </Panel>
      )}
      {hasNextPage && (
        <Button className="mt-3" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t('more')}
        </Button>
      )}
      <Drawer
        open={openId !== undefined}
        onClose={() => void navigate({ search: kind ? { kind } : {} })}
        title={t('tasks.title')}
      >
        {open && <TaskView task={open} />}
        {isElsewhere && other.error && <Failure error={other.error} />}
      </Drawer>
    </>
  )
}

function TaskView({ task }: { readonly task: Task }) {
  const t = useT()
  return (
    <div className="space-y-4">
      <TaskProgress task={task} />
      {task.kind === 'video' && task.status === 'completed' && <Player task={task.id} />}
      <Facts
        rows={[
          [t('column.id'), <Id key="id" id={task.id} isShort={false} />],
          [t('column.time'), <Time key="time" at={task.created_at} shape="withSeconds" />],
          [t('column.model'), task.model],
          [t('tasks.elapsed'), duration(task.elapsed_ms)],
          [t('request.held'), exact(task.held_nano_usd)],
          [t('tasks.charged'), exact(task.charged_nano_usd)],
          ...(task.error_code === null ? [] : [[t('column.error'), task.error_code] as const]),
        ]}
      />
    </div>
  )
}
