/** The parts of pages: a heading with tools, panels, and empty and failed states. */
import type { ReactNode } from 'react'
import { ApiError, isStatus } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { useProblemText } from '../lib/problem.ts'
import { Button } from './button.tsx'
import { classes } from './classes.ts'
import { Icon } from './icon.tsx'

export function PageHead({
  title,
  hint,
  children,
}: {
  readonly title: string
  readonly hint?: ReactNode
  readonly children?: ReactNode
}) {
  return (
    <header className="mb-4 flex flex-wrap items-end gap-x-4 gap-y-2">
      <div className="min-w-0 grow">
        <h1 className="text-lg leading-7 font-semibold break-words">{title}</h1>
        {hint && <p className="text-soft">{hint}</p>}
      </div>
      {children && <div className="flex flex-wrap items-center gap-2">{children}</div>}
    </header>
  )
}

export function Panel({
  title,
  tools,
  children,
  className,
  isFlush = false,
}: {
  readonly title?: ReactNode
  readonly tools?: ReactNode
  readonly children: ReactNode
  readonly className?: string
  /** A table extends to the border. */
  readonly isFlush?: boolean
}) {
  return (
    <section className={classes('min-w-0 rounded-lg border bg-panel', className)}>
      {title !== undefined && (
        <div className="flex min-h-11 flex-wrap items-center gap-2 border-b px-4 py-1.5">
          <h2 className="min-w-0 grow py-1.5 font-semibold">{title}</h2>
          {tools}
        </div>
      )}
      <div className={isFlush ? (title === undefined ? 'rounded-[inherit]' : 'rounded-b-[inherit]') : 'p-4'}>
        {children}
      </div>
    </section>
  )
}

/** A figure with its label. */
export function Figure({
  label,
  children,
  hint,
}: {
  readonly label: string
  readonly children: ReactNode
  readonly hint?: ReactNode
}) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-soft">{label}</dt>
      <dd className="text-base leading-7 font-semibold break-words sm:text-lg">{children}</dd>
      {hint && <dd className="text-xs text-soft">{hint}</dd>}
    </div>
  )
}

/** A list of names and values. */
export function Facts({
  rows,
  isEven = false,
}: {
  readonly rows: readonly (readonly [string, ReactNode])[]
  /** Several lists below each other have their columns aligned. */
  readonly isEven?: boolean
}) {
  const columns = isEven
    ? 'grid-cols-[45%_minmax(0,1fr)] sm:grid-cols-[20rem_minmax(0,1fr)]'
    : 'grid-cols-[fit-content(45%)_minmax(0,1fr)]'
  return (
    <dl className={classes('grid gap-x-4 gap-y-1.5', columns)}>
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="min-w-24 break-words text-soft">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** An empty state: one sentence and an action. */
export function Empty({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-10 text-center text-soft">
      <p className="max-w-md">{children}</p>
      {action}
    </div>
  )
}

/** Appears only if the wait is long enough to be noticed. */
export function Waiting() {
  const t = useT()
  return (
    <div role="status" className="late px-4 py-10 text-center text-soft">
      {t('loading')}
    </div>
  )
}

export type NoteKind = 'info' | 'good' | 'warn' | 'bad'
const noteLooks: Readonly<Record<NoteKind, string>> = {
  info: 'bg-accent-soft text-ink',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
}

const noteIcons = { info: 'info', good: 'check', warn: 'warning', bad: 'warning' } as const

export function Note({
  kind = 'info',
  children,
  action,
}: {
  readonly kind?: NoteKind
  readonly children: ReactNode
  readonly action?: ReactNode
}) {
  return (
    <div
      role={kind === 'bad' ? 'alert' : 'status'}
      className={classes('flex flex-wrap items-start gap-2 rounded-md px-3 py-2', noteLooks[kind])}
    >
      <Icon name={noteIcons[kind]} className="mt-0.5" />
      <div className="min-w-0 grow basis-48 break-words">{children}</div>
      {action}
    </div>
  )
}

/** A failure: its text, the API's own message if that differs, and the request id for the operator. */
export function Failure({
  error,
  onRetry,
}: {
  readonly error: unknown
  readonly onRetry?: (() => unknown) | undefined
}) {
  const t = useT()
  const { text, original } = useProblemText()(error)
  const isKnown = error instanceof ApiError
  // A retry does not help if the object does not exist.
  const mayHelp = onRetry !== undefined && !isStatus(error, 404)
  return (
    <Note kind="bad" action={mayHelp && <Button onClick={() => void onRetry()}>{t('retry')}</Button>}>
      {text}
      {original !== undefined && (
        <details className="text-xs">
          <summary className="min-h-6 w-fit">{t('original')}</summary>
          <span lang="en">{original}</span>
        </details>
      )}
      {isKnown && error.requestId && <span className="block font-mono text-xs">{error.requestId}</span>}
    </Note>
  )
}
