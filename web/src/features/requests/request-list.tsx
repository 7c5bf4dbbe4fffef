/** The list of requests. Only visible rows are drawn. */
import { Link, useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, type ReactNode, type RefObject } from 'react'
import type { RequestRow } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import type { RequestFilters } from '../../lib/request-filters.ts'
import { columnOf } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { duration } from '../../lib/time.ts'
import { OutcomeMark } from '../../parts/outcome.tsx'
import { classes } from '../../ui/classes.ts'
import { Badge, Money, Nothing } from '../../ui/text.tsx'
import { HOUR_MS } from '../../lib/units.ts'

const ROW_PX = 32

type Props = {
  readonly account: string
  readonly filters: RequestFilters
  readonly rows: readonly RequestRow[]
  readonly openId: string | undefined
  readonly hasMore: boolean
  readonly onMore: () => void
  /** Whether the user reads: has scrolled down, points at a row, or has the focus in the list. */
  readonly onReading: (isReading: boolean) => void
}

/** Columns appear with the width of the window. Beside the navigation, 1,024 px leave 770 for them. */
const grid =
  'grid items-center gap-x-3 px-4 grid-cols-[5.5rem_minmax(0,1fr)_5.5rem] ' +
  'sm:grid-cols-[7rem_7rem_minmax(0,1fr)_6rem] ' +
  'lg:grid-cols-[7rem_7rem_minmax(0,1.6fr)_minmax(0,1fr)_6rem] ' +
  'xl:grid-cols-[7rem_7rem_minmax(0,1.6fr)_minmax(0,1fr)_7rem_4.5rem_4.5rem_6rem] ' +
  'wide:grid-cols-[7rem_7rem_minmax(0,1.6fr)_minmax(0,1fr)_9rem_7rem_4.5rem_4.5rem_6rem]'
const fromSm = 'hidden sm:block'
const fromLg = 'hidden lg:block'
const fromXl = 'hidden xl:block'
const fromWide = 'hidden wide:block'

export function RequestList({ account, filters, rows, openId, hasMore, onMore, onReading }: Props) {
  const t = useT()
  const box = useRef<HTMLDivElement>(null)
  const look = useReading(box, onReading)
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  })
  const items = list.getVirtualItems()
  const cost = useMemo(() => columnOf(rows.map((row) => row.charged_nano_usd)), [rows])
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && last >= rows.length - 30) onMore()
  }, [hasMore, last, rows.length, onMore])
  const heads: readonly (readonly [string, string])[] = [
    [t('column.time'), ''],
    [t('column.status'), fromSm],
    [t('column.model'), ''],
    [t('column.key'), fromLg],
    [t('column.endpoint'), fromWide],
    [t('column.tokens'), `${fromXl} text-right`],
    [t('column.first'), `${fromXl} text-right`],
    [t('column.total'), `${fromXl} text-right`],
    [t('column.cost'), 'text-right'],
  ]
  return (
    <div
      ref={box}
      {...look}
      tabIndex={0}
      role="table"
      aria-label={t('nav.requests')}
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      className="max-h-[calc(100dvh-15rem)] min-h-48 overflow-y-auto rounded-lg"
    >
      <div role="rowgroup" className="sticky top-0 z-10 border-b bg-panel">
        <div role="row" className={classes(grid, 'h-8 text-xs font-medium text-soft')}>
          {heads.map(([name, look]) => (
            <span key={name} role="columnheader" className={look}>
              {name}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="relative" style={{ height: list.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rows[index]
          return (
            row && <Row key={row.id} {...{ row, index, start, account, filters, cost }} isOpen={row.id === openId} />
          )
        })}
      </div>
    </div>
  )
}

/** Reading is detected by the pointer, the focus and the scroll position. */
function useReading(box: RefObject<HTMLDivElement | null>, tell: Props['onReading']) {
  const state = useRef({ isOver: false, isFocused: false })
  // A list that becomes empty gets no event when the pointer leaves. Later rows must not wait for it.
  useEffect(() => () => tell(false), [tell])
  const say = (change: Partial<typeof state.current> = {}): void => {
    Object.assign(state.current, change)
    const { isOver, isFocused } = state.current
    tell(isOver || isFocused || (box.current?.scrollTop ?? 0) > 0)
  }
  return {
    onScroll: () => say(),
    onPointerEnter: () => say({ isOver: true }),
    onPointerLeave: () => say({ isOver: false }),
    onFocus: () => say({ isFocused: true }),
    onBlur: () => say({ isFocused: box.current?.matches(':focus-within') === true }),
  }
}

type RowProps = Pick<Props, 'account' | 'filters'> & {
  readonly row: RequestRow
  readonly index: number
  readonly start: number
  readonly isOpen: boolean
  readonly cost: ReturnType<typeof columnOf>
}

function Row({ row, index, start, account, filters, isOpen, cost }: RowProps) {
  const show = useShow()
  const navigate = useNavigate()
  const target = { to: '/a/$account/requests/$request', params: { account, request: row.id }, search: filters } as const
  const full = `${show.number(row.input_tokens)} / ${show.number(row.output_tokens)}`
  const tokens = full.length > 17 ? `${show.compact(row.input_tokens)} / ${show.compact(row.output_tokens)}` : full
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isOpen}
      onClick={() => void navigate(target)}
      className={classes(
        grid,
        'absolute inset-x-0 h-8 cursor-pointer border-b hover:bg-hover',
        isOpen && 'bg-accent-soft',
      )}
      style={{ transform: `translateY(${start}px)` }}
    >
      <Cell>
        <Link
          {...target}
          title={show.time(row.created_at, 'withSeconds')}
          onClick={(event) => event.stopPropagation()}
          className="hover:text-accent hover:underline"
        >
          <When at={row.created_at} />
        </Link>
      </Cell>
      <Cell className={fromSm}>
        <OutcomeMark outcome={row.outcome} />
      </Cell>
      <Cell title={row.model}>
        <span className="flex min-w-0 items-center gap-1.5">
          {row.outcome !== 'completed' && (
            <span className="shrink-0 sm:hidden">
              <OutcomeMark outcome={row.outcome} isShort />
            </span>
          )}
          <span className="truncate">{row.model}</span>
          <Flags row={row} />
        </span>
      </Cell>
      <Cell className={fromLg} title={row.key.name}>
        {row.key.name}
      </Cell>
      <Cell className={classes(fromWide, 'text-soft')}>{row.endpoint}</Cell>
      <Cell className={classes(fromXl, 'text-right')} title={full}>
        {row.images > 0 && row.output_tokens === 0 ? <Images n={row.images} /> : tokens}
      </Cell>
      <Cell className={classes(fromXl, 'text-right')}>{duration(row.first_event_ms)}</Cell>
      <Cell className={classes(fromXl, 'text-right')}>{duration(row.total_ms)}</Cell>
      <Cell className="text-right">
        <Money amount={row.charged_nano_usd} show={cost} />
      </Cell>
    </div>
  )
}

/** The time for today, with the date for earlier days. */
function When({ at }: { readonly at: string }) {
  const show = useShow()
  const isRecent = Date.now() - Date.parse(at) < 20 * HOUR_MS
  return (
    <time dateTime={at}>
      {isRecent ? show.time(at, 'clock') : `${show.time(at, 'shortDay')} ${show.time(at, 'hourOnly')}`}
    </time>
  )
}

function Images({ n }: { readonly n: number }) {
  const t = useT()
  return n > 0 ? t('requests.images', { n }) : <Nothing />
}

function Flags({ row }: { readonly row: RequestRow }) {
  const t = useT()
  return (
    <span className="hidden shrink-0 gap-1 md:flex">
      {row.attempts > 1 && <Badge>{t('flag.retried', { n: row.attempts - 1 })}</Badge>}
      {row.usage_source === 'estimated' && <Badge title={t('flag.estimatedHint')}>{t('flag.estimated')}</Badge>}
    </span>
  )
}

const Cell = ({
  className,
  title,
  children,
}: {
  readonly className?: string
  readonly title?: string
  readonly children: ReactNode
}) => (
  <span role="cell" title={title} className={classes('min-w-0 truncate', className)}>
    {children}
  </span>
)
