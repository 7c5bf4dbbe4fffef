/** The phases of a request as bars on one time scale. Screen readers read it as a list. */
import { duration } from '../../lib/time.ts'
import { classes } from '../classes.ts'

export type Phase = {
  readonly name: string
  readonly note?: string | undefined
  readonly startMs: number
  readonly tookMs: number
  readonly look: 'plain' | 'good' | 'bad'
}

const fills = { plain: 'bg-edge', good: 'bg-accent', bad: 'bg-bad' } as const

export function Waterfall({
  phases,
  totalMs,
  label,
}: {
  readonly phases: readonly Phase[]
  readonly totalMs: number
  readonly label: string
}) {
  const whole = Math.max(1, totalMs, ...phases.map(({ startMs, tookMs }) => startMs + tookMs))
  return (
    <ol aria-label={label} className="grid grid-cols-[minmax(6rem,auto)_1fr_auto] items-center gap-x-3 gap-y-1">
      {phases.map(({ name, note, startMs, tookMs, look }, at) => (
        <li key={at} className="contents">
          <span className="min-w-0 max-w-56">
            <span className={classes('block truncate', look === 'bad' && 'text-bad')} title={name}>
              {name}
            </span>
            {note && <span className="block text-xs break-words text-soft">{note}</span>}
          </span>
          <span aria-hidden="true" className="relative block h-3 rounded-sm bg-sunken">
            <span
              className={classes('absolute inset-y-0 min-w-0.5 rounded-sm', fills[look])}
              style={{
                left: `${Math.min(99.5, (startMs / whole) * 100)}%`,
                width: `${Math.min(100, (tookMs / whole) * 100)}%`,
              }}
            />
          </span>
          <span className="text-right whitespace-nowrap">{duration(tookMs)}</span>
        </li>
      ))}
    </ol>
  )
}
