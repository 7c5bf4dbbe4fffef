import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Task } from '../lib/api-types.gen.ts'
import { DeleteTask } from '../features/tasks/task-actions.tsx'
import { TaskTable } from '../features/tasks/task-table.tsx'
import { TaskView } from '../features/tasks/task-view.tsx'
import { taskKinds, tasksQuery } from '../features/tasks/api.ts'
import { useT } from '../lib/language.ts'
import { taskQuery } from '../lib/tasks.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Drawer } from '../ui/dialog.tsx'
import { Segments } from '../ui/field.tsx'
import { Empty, Failure, PageHead, Panel, Waiting } from '../ui/page.tsx'

export function TasksPage() {
  const t = useT()
  const { account } = useParams({ from: '/inside/a/$account/tasks' })
  const { kind, task: openId } = useSearch({ from: '/inside/a/$account/tasks' })
  const navigate = useNavigate({ from: '/a/$account/tasks' })
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    tasksQuery(account, kind),
  )
  const tasks = data?.pages.flatMap((page) => page.data)
  const [doomed, setDoomed] = useState<Task>()
  const { open, missing } = useTask(account, tasks, openId)
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
            <TaskTable account={account} tasks={tasks} kind={kind} onDelete={setDoomed} />
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
        {open && <TaskView account={account} task={open} />}
        {missing && <Failure error={missing} />}
      </Drawer>
      <DeleteTask account={account} task={doomed} onClose={() => setDoomed(undefined)} />
    </>
  )
}

/** The task of the URL. It may be on no loaded page. A video can also be given by its own id. */
function useTask(account: string, tasks: readonly Task[] | undefined, id: string | undefined) {
  const isMeant = (task: Task): boolean => task.request === id || task.id === id
  const listed = tasks?.find(isMeant)
  const isElsewhere = tasks !== undefined && id !== undefined && !listed
  const { data, error } = useQuery({ ...taskQuery(account, id ?? ''), enabled: isElsewhere })
  const found = isElsewhere && data && isMeant(data) ? data : undefined
  return { open: listed ?? found, missing: isElsewhere ? error : null }
}
