import { Link } from '@tanstack/react-router'
import { useT } from '../../lib/language.ts'
import { useShow } from '../../lib/show.ts'
import { Panel } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import type { RefusedCount } from './api.ts'

type Props = { readonly account: string; readonly counts: readonly RefusedCount[] }

/** The number of refused requests by code. It draws nothing if there are none. */
export function RefusedCounts({ account, counts }: Props) {
  const t = useT()
  const show = useShow()
  if (counts.length === 0) return null
  return (
    <Panel isFlush>
      <Table
        label={t('refused.count')}
        rows={counts}
        keyOf={({ status, code }) => `${status} ${code}`}
        columns={[
          {
            key: 'code',
            head: t('refused.count'),
            cell: ({ status, code }) => (
              <Link
                to="/a/$account/requests"
                params={{ account }}
                search={{ outcome: 'refused' }}
                className="hover:text-accent hover:underline"
              >
                {status} {code}
              </Link>
            ),
          },
          {
            key: 'requests',
            head: t('nav.requests'),
            align: 'right',
            cell: ({ requests }) => show.number(requests),
          },
        ]}
      />
    </Panel>
  )
}
