/** A video that was started here, from its start to the player. The shell polls it. */
import { useQuery } from '@tanstack/react-query'
import { useT } from '../../lib/language.ts'
import { useTaskFailure } from '../../lib/problem.ts'
import type { StartedTasks } from '../../lib/started.ts'
import { isOpen, taskQuery } from '../../lib/tasks.ts'
import { duration } from '../../lib/time.ts'
import { Player } from '../../parts/player.tsx'
import { TaskMoney } from '../../parts/task-money.tsx'
import { TaskProgress } from '../../parts/task-progress.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Failure, Note, Waiting } from '../../ui/page.tsx'
import { Id } from '../../ui/text.tsx'

export function Watched({ started }: { readonly started: StartedTasks }) {
  const t = useT()
  const failureOf = useTaskFailure()
  const { data: task, error } = useQuery(taskQuery(started.account, started.request))
  return (
    <article aria-label={started.model} className="space-y-3 rounded-lg border bg-panel p-4">
      {!task && !error && <Waiting />}
      {error && <Failure error={error} />}
      {task && (
        <>
          <div className="flex flex-wrap items-center gap-3">
            <TaskProgress task={task} />
            {isOpen(task) && <span className="text-soft">{duration(task.elapsed_ms)}</span>}
            <span title={started.model} className="min-w-0 truncate text-soft">
              {started.model}
            </span>
            <Id id={task.id} />
          </div>
          {isOpen(task) && <Poster address={started.poster} />}
          {task.status === 'completed' && <Player task={task.id} />}
          {task.status === 'failed' && <Note kind="bad">{t('play.refunded', { why: failureOf(task) })}</Note>}
          <TaskMoney account={started.account} task={task} />
        </>
      )}
    </article>
  )
}

/** The image to show at once: the first frame or a reference. */
const Poster = ({ address }: { readonly address: string | undefined }) => (
  <div className="flex aspect-video max-h-[40vh] items-center justify-center overflow-hidden rounded-md bg-sunken">
    {address === undefined ? (
      <Icon name="tasks" className="!size-8 text-soft" />
    ) : (
      <img src={address} alt="" className="max-h-full max-w-full opacity-60" />
    )}
  </div>
)
