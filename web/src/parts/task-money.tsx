/** The money of a task: its hold, and each charge and release. */
import { Link } from '@tanstack/react-router'
import type { Task } from '../lib/api-types.gen.ts'
import { useT } from '../lib/language.ts'
import { columnOf, nano } from '../lib/money.ts'
import { isOpen } from '../lib/tasks.ts'
import { Money } from '../ui/text.tsx'

type Props = {
  readonly account: string
  readonly task: Task
}

export function TaskMoney({ account, task }: Props) {
  const t = useT()
  const { held_nano_usd: held, charged_nano_usd: charged, charges } = task
  const back = nano(held) - nano(charged)
  const shown = columnOf([held, charged, back.toString(), ...charges.map((line) => line.charged_nano_usd)])
  const row = (name: string, amount: string | bigint, request?: string) => (
    <div key={name} className="contents">
      <dt className="text-soft">
        {request === undefined ? (
          name
        ) : (
          <Link
            to="/a/$account/requests/$request"
            params={{ account, request }}
            search={{}}
            className="inline-flex min-h-6 items-center underline hover:text-ink"
          >
            {name}
          </Link>
        )}
      </dt>
      <dd className="text-right">
        <Money amount={amount} show={shown} />
      </dd>
    </div>
  )
  return (
    <dl
      aria-label={t('money.title')}
      className="grid w-fit grid-cols-[auto_auto] items-center gap-x-8 gap-y-0.5 text-xs"
    >
      {row(t('request.held'), held)}
      {charges.map((line) =>
        row(
          t(line.endpoint === 'videos.upscale' ? 'charge.videos.upscale' : `charge.${task.kind}s`),
          line.charged_nano_usd,
          line.request,
        ),
      )}
      {!isOpen(task) && row(t('tasks.charged'), charged)}
      {!isOpen(task) && back > 0n && row(t('charge.back'), back)}
    </dl>
  )
}
