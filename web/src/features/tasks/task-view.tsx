/** One task: its result, its options and its cost. */
import type { Task } from '../../lib/api-types.gen.ts'
import { useT, type Translate } from '../../lib/language.ts'
import { useMade } from '../../lib/made.ts'
import { useTaskFailure } from '../../lib/problem.ts'
import { isOpen, hasFile } from '../../lib/tasks.ts'
import { duration } from '../../lib/time.ts'
import { Player } from '../../parts/player.tsx'
import { TaskMoney } from '../../parts/task-money.tsx'
import { TaskProgress } from '../../parts/task-progress.tsx'
import { Facts } from '../../ui/page.tsx'
import { Id, Time } from '../../ui/text.tsx'

export function TaskView({ account, task }: { readonly account: string; readonly task: Task }) {
  const t = useT()
  const failureOf = useTaskFailure()
  const made = useMade().find(({ requestId }) => requestId === task.request)
  return (
    <div className="space-y-4">
      <div>
        <TaskProgress task={task} />
      </div>
      {hasFile(task) && <Player task={task.id} />}
      {made?.pictures.map(({ address }, at) => (
        <img
          key={address.slice(-64) + at}
          src={address}
          alt={t('play.result', { n: at + 1 })}
          className="max-h-[50vh] max-w-full rounded-md border"
        />
      ))}
      {isOpen(task) && <p className="text-soft">{t('tasks.noCancel')}</p>}
      <TaskMoney account={account} task={task} />
      <Facts
        rows={[
          [t('column.id'), <Id key="id" id={task.id} isShort={false} />],
          [t('column.time'), <Time key="time" at={task.created_at} shape="withSeconds" />],
          [t('column.model'), task.model],
          ...(task.wish ? [[t('tasks.wish'), wishText(task.wish, t)] as const] : []),
          ...(task.outputs > 0 ? [[t('tasks.outputs'), task.outputs] as const] : []),
          [t('tasks.elapsed'), duration(task.elapsed_ms)],
          ...(task.expires_at === null
            ? []
            : [[t('tasks.expires'), <Time key="kept" at={task.expires_at} />] as const]),
          ...(task.error_code === null
            ? []
            : [
                [
                  t('column.error'),
                  <span key="error" title={task.error_code}>
                    {failureOf(task)}
                  </span>,
                ] as const,
              ]),
        ]}
      />
    </div>
  )
}

function wishText(wish: NonNullable<Task['wish']>, t: Translate): string {
  const { upscale } = wish
  const made = t('tasks.wish.made', {
    resolution: wish.resolution,
    ratio: wish.ratio ?? t('tasks.wish.anyRatio'),
    seconds: wish.seconds === -1 ? t('tasks.wish.auto') : t('tasks.wish.seconds', { n: wish.seconds }),
    audio: t(wish.audio ? 'tasks.wish.audio' : 'tasks.wish.silent'),
    seed: wish.seed,
  })
  if (!upscale) return made
  const size = upscale.resolution ?? (upscale.limit === null ? undefined : t('tasks.wish.edge', { n: upscale.limit }))
  const frames = upscale.fps === null ? undefined : t('tasks.wish.fps', { n: upscale.fps })
  const grown = [size, frames, upscale.version, upscale.scene].filter(Boolean).join(', ')
  return made + t('tasks.wish.upscale', { size: grown })
}
