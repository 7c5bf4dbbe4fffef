import type { Task } from '../lib/api-types.gen.ts'
import { useT } from '../lib/language.ts'
import { useTaskFailure } from '../lib/problem.ts'
import { useShow } from '../lib/show.ts'
import { Status } from '../ui/text.tsx'

type State = Pick<Task, 'status' | 'progress' | 'error_code' | 'failure' | 'stage'>

/** The bar is drawn here: the border that every element has makes browsers use their own green. */
const barLook =
  'h-1.5 w-14 appearance-none overflow-hidden rounded-full bg-sunken indeterminate:animate-pulse ' +
  'indeterminate:bg-accent [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-transparent ' +
  '[&::-webkit-progress-value]:bg-accent'

/** The progress of a task. Without a known progress, the bar only shows activity. */
export function TaskProgress({ task }: { readonly task: State }) {
  const t = useT()
  const show = useShow()
  const failureOf = useTaskFailure()
  if (task.status === 'completed') return <Status tone="good">{t('task.completed')}</Status>
  if (task.status === 'failed') {
    return (
      <span title={failureOf(task)}>
        <Status tone="bad">{t('task.failed')}</Status>
      </span>
    )
  }
  const known = task.status === 'in_progress' ? task.progress : null
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 whitespace-nowrap">
      <Status tone="busy">{task.stage === null ? t(`task.${task.status}`) : t(`stage.${task.stage}`)}</Status>
      {task.status === 'in_progress' && (
        <span className="inline-flex items-center gap-1.5 text-xs leading-4">
          <progress className={barLook} max={100} value={known ?? undefined} aria-label={t('task.progress')} />
          {known !== null && show.percent(known / 100)}
        </span>
      )}
    </span>
  )
}
