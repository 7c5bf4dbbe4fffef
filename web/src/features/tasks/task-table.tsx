import { Link } from '@tanstack/react-router'
import { useT } from '../../lib/i18n/language.ts'
import { duration } from '../../lib/time.ts'
import { TaskProgress } from '../../parts/task-progress.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Ago, Badge, Money, Nothing } from '../../ui/text.tsx'
import type { Task } from './tasks.ts'

type Props = { readonly account: string; readonly tasks: readonly Task[]; readonly kind: Task['kind'] | undefined }

export function TaskTable({ account, tasks, kind }: Props) {
  const t = useT()
  const columns: readonly Column<Task>[] = [
    { key: 'time', head: t('column.time'), cell: (task) => <Ago at={task.created_at} /> },
    { key: 'kind', head: t('models.kind'), isOptional: true, cell: (task) => <Badge>{t(`kind.${task.kind}`)}</Badge> },
    {
      key: 'id',
      head: t('column.id'),
      isOptional: true,
      cell: (task) =>
        task.kind === 'image' ? (
          <Link
            to="/a/$account/requests/$request"
            params={{ account, request: task.id }}
            search={{}}
            className="font-mono text-xs hover:text-accent hover:underline"
          >
            {`${task.id.slice(0, 8)}…${task.id.slice(-6)}`}
          </Link>
        ) : (
          <Link
            to="/a/$account/tasks"
            params={{ account }}
            search={{ ...(kind && { kind }), task: task.id }}
            className="font-mono text-xs hover:text-accent hover:underline"
          >
            {`${task.id.slice(0, 8)}…${task.id.slice(-6)}`}
          </Link>
        ),
    },
    {
      key: 'model',
      head: t('column.model'),
      isOptional: true,
      className: 'max-w-56 truncate',
      cell: (task) => task.model,
    },
    { key: 'status', head: t('column.status'), cell: (task) => <TaskProgress task={task} /> },
    {
      key: 'outputs',
      head: t('tasks.outputs'),
      align: 'right',
      isOptional: true,
      cell: (task) => (task.outputs > 0 ? task.outputs : <Nothing />),
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
      cell: (task) => <Money amount={task.held_nano_usd} />,
    },
    {
      key: 'charged',
      head: t('tasks.charged'),
      align: 'right',
      cell: (task) => <Money amount={task.charged_nano_usd} />,
    },
  ]
  return <Table label={t('nav.tasks')} columns={columns} rows={tasks} keyOf={({ id }) => id} />
}
