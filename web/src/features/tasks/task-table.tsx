import { Link } from '@tanstack/react-router'
import type { Task } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { useMade } from '../../lib/made.ts'
import { columnOf } from '../../lib/money.ts'
import { isOpen, hasFile } from '../../lib/tasks.ts'
import { duration } from '../../lib/time.ts'
import { TaskProgress } from '../../parts/task-progress.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Ago, Badge, Id, Money, Nothing } from '../../ui/text.tsx'
import { TaskActions } from './task-actions.tsx'
import { Thumbnail } from './thumbnail.tsx'

type Props = {
  readonly account: string
  readonly tasks: readonly Task[]
  readonly kind: Task['kind'] | undefined
  readonly onDelete: (task: Task) => void
}

/** The videos of which a frame is loaded. */
const FRAMES_MAX = 8

export function TaskTable({ account, tasks, kind, onDelete }: Props) {
  const t = useT()
  const made = useMade()
  const framed = new Set(tasks.filter(hasFile).slice(0, FRAMES_MAX))
  const held = columnOf(tasks.map((task) => task.held_nano_usd))
  const charged = columnOf(tasks.map((task) => task.charged_nano_usd))
  const columns: readonly Column<Task>[] = [
    {
      key: 'picture',
      head: <span className="sr-only">{t('tasks.picture')}</span>,
      cell: (task) => <Thumbnail task={task} made={made} canFetch={framed.has(task)} />,
    },
    {
      key: 'time',
      head: t('column.time'),
      cell: (task) => <When account={account} kind={kind} task={task} charged={charged} />,
    },
    { key: 'kind', head: t('models.kind'), isOptional: true, cell: (task) => <Badge>{t(`kind.${task.kind}`)}</Badge> },
    { key: 'id', head: t('column.id'), isOptional: true, cell: (task) => <Id id={task.id} /> },
    {
      key: 'model',
      head: t('column.model'),
      isOptional: true,
      className: 'max-w-56 truncate',
      cell: (task) => <span title={task.model}>{task.model}</span>,
    },
    {
      key: 'status',
      head: t('column.status'),
      // The progress is below the status. Beside it, it took the room of a column.
      className: 'max-w-32',
      cell: (task) => <TaskProgress task={task} />,
    },
    {
      key: 'took',
      head: t('tasks.elapsed'),
      align: 'right',
      isOptional: true,
      cell: (task) => <span className="whitespace-nowrap">{duration(task.elapsed_ms)}</span>,
    },
    {
      key: 'held',
      head: t('money.held'),
      align: 'right',
      isOptional: true,
      cell: (task) => <Money amount={task.held_nano_usd} show={held} />,
    },
    {
      key: 'charged',
      head: t('tasks.charged'),
      align: 'right',
      isOptional: true,
      cell: (task) => <Charged task={task} show={charged} />,
    },
    { key: 'kept', head: t('tasks.expires'), isOptional: true, cell: (task) => <Kept task={task} /> },
    {
      key: 'do',
      head: <span className="sr-only">{t('column.do')}</span>,
      align: 'right',
      cell: (task) => <TaskActions account={account} task={task} onDelete={() => onDelete(task)} />,
    },
  ]
  return <Table label={t('nav.tasks')} columns={columns} rows={tasks} keyOf={({ id }) => id} />
}

type Show = ReturnType<typeof columnOf>
type WhenProps = Pick<Props, 'account' | 'kind'> & { readonly task: Task; readonly charged: Show }

/** The time of the request. In a narrow window it also shows the cost. */
function When({ account, kind, task, charged }: WhenProps) {
  return (
    <>
      <Link
        to="/a/$account/tasks"
        params={{ account }}
        search={{ ...(kind && { kind }), task: task.request }}
        className="inline-flex min-h-6 items-center hover:text-accent hover:underline"
      >
        <Ago at={task.created_at} />
      </Link>
      <span className="-mt-1 block text-xs text-soft md:hidden">
        <Charged task={task} show={charged} />
      </span>
    </>
  )
}

/** Nothing is charged before the end. That is not the same as zero. */
const Charged = ({ task, show }: { readonly task: Task; readonly show: Show }) =>
  isOpen(task) ? <Nothing /> : <Money amount={task.charged_nano_usd} show={show} />

function Kept({ task }: { readonly task: Task }) {
  const t = useT()
  if (hasFile(task)) return <Ago at={task.expires_at} />
  const isGone = task.kind === 'video' && task.status === 'completed'
  return isGone ? <span className="text-soft">{t('tasks.expired')}</span> : <Nothing />
}
