/** Small pieces of text with one look everywhere: money, times, ids and states. */
import { useState, type ReactNode } from 'react'
import { useT } from '../lib/language.ts'
import { shortId } from '../lib/ids.ts'
import { exact, money } from '../lib/money.ts'
import { useShow } from '../lib/show.ts'
import { classes } from './classes.ts'
import { Icon, type IconName } from './icon.tsx'

type Amount = string | bigint

type MoneyProps = {
  readonly amount: Amount
  /** The format: `columnOf` for amounts in a column, `shortPrice` for prices. */
  readonly show?: (amount: Amount) => string
  readonly className?: string
}

/** A rounded amount. Its tooltip has the exact amount. */
export const Money = ({ amount, show = money, className }: MoneyProps) => (
  <span title={exact(amount)} className={classes('whitespace-nowrap', className)}>
    {show(amount)}
  </span>
)

/** The time since then, with the exact time in the tooltip. */
export function Ago({ at }: { readonly at: string | null | undefined }) {
  const show = useShow()
  if (!at) return <Nothing />
  return (
    <time dateTime={at} title={show.time(at, 'withSeconds')} className="whitespace-nowrap">
      {show.ago(at)}
    </time>
  )
}

export function Time({
  at,
  shape,
}: {
  readonly at: string
  readonly shape?: Parameters<ReturnType<typeof useShow>['time']>[1]
}) {
  const show = useShow()
  return (
    <time dateTime={at} title={show.time(at, 'withSeconds')} className="whitespace-nowrap">
      {show.time(at, shape)}
    </time>
  )
}

/** There is no value. That is not zero. */
export const Nothing = () => <span className="text-soft">—</span>

const tones = {
  good: ['bg-good-soft text-good', 'check'],
  warn: ['bg-warn-soft text-warn', 'warning'],
  bad: ['bg-bad-soft text-bad', 'cross'],
  busy: ['bg-accent-soft text-accent-strong', 'clock'],
  none: ['bg-sunken text-soft', 'stop'],
} as const satisfies Record<string, readonly [string, IconName]>
export type Tone = keyof typeof tones

type StatusProps = {
  readonly tone: Tone
  /** Without room, the word is only for screen readers. */
  readonly isShort?: boolean
  readonly children: ReactNode
}

/** A state: an icon and a word, so that it does not depend on colour. */
export function Status({ tone, isShort = false, children }: StatusProps) {
  const [look, icon] = tones[tone]
  return (
    <span
      className={classes(
        'inline-flex items-center gap-1 rounded px-1.5 align-middle text-xs leading-5 whitespace-nowrap',
        // The hidden text is placed at the icon. Elsewhere it would make the page longer.
        isShort && 'relative',
        look,
      )}
    >
      <Icon name={icon} className="!size-3" />
      {isShort ? <span className="sr-only">{children}</span> : children}
    </span>
  )
}

export const Badge = ({ children, title }: { readonly children: ReactNode; readonly title?: string }) => (
  <span title={title} className="inline-block rounded border px-1.5 text-xs leading-[18px] whitespace-nowrap text-soft">
    {children}
  </span>
)

/** Copies a text and confirms it, for screen readers too. */
export function useCopy(): { readonly isCopied: boolean; readonly copy: (text: string) => Promise<boolean> } {
  const [isCopied, setCopied] = useState(false)
  const copy = async (text: string): Promise<boolean> => {
    const isDone = await writeClipboard(text)
    setCopied(isDone)
    setTimeout(() => setCopied(false), 2_000)
    return isDone
  }
  return { isCopied, copy }
}

/** Without HTTPS only the old way to copy works. */
async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.style.cssText = 'position:fixed;opacity:0'
  const place = document.activeElement?.closest('[role=dialog]') ?? document.body
  const before = document.activeElement
  place.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  return isDone
}

export function CopyButton({ text, label }: { readonly text: string; readonly label?: string }) {
  const t = useT()
  const { isCopied, copy } = useCopy()
  const name = isCopied ? t('copied') : (label ?? t('copy'))
  return (
    <button
      type="button"
      title={name}
      aria-label={name}
      onClick={(event) => {
        event.stopPropagation()
        void copy(text)
      }}
      className="inline-flex size-6 shrink-0 items-center justify-center rounded text-soft hover:bg-hover hover:text-ink"
    >
      <Icon name={isCopied ? 'check' : 'copy'} className="!size-3.5" />
      <span aria-live="polite" className="sr-only">
        {isCopied ? t('copied') : ''}
      </span>
    </button>
  )
}

/** An id that is shortened in the middle. A copy has the whole id. */
export function Id({ id, isShort = true }: { readonly id: string; readonly isShort?: boolean }) {
  const shown = isShort ? shortId(id) : id
  return (
    <span className="inline-flex min-w-0 items-center gap-0.5">
      <code title={id} className={classes('font-mono text-xs', isShort ? 'whitespace-nowrap' : 'wrap-anywhere')}>
        {shown}
      </code>
      <CopyButton text={id} />
    </span>
  )
}

export function CodeBlock({
  text,
  label,
  onCopy,
  isWrapped = false,
  isList = false,
}: {
  readonly text: string
  readonly label: string
  readonly onCopy?: string
  /** One long word, such as a link. It wraps instead of being cut off. */
  readonly isWrapped?: boolean
  /** A long text scrolls, so that the content below stays visible. */
  readonly isList?: boolean
}) {
  return (
    <div className="relative rounded-md border bg-sunken">
      <pre
        tabIndex={0}
        aria-label={label}
        className={classes(
          'overflow-x-auto p-3 pr-10 font-mono text-xs leading-5',
          isWrapped && 'break-all whitespace-pre-wrap',
          isList && 'max-h-64',
        )}
      >
        {text}
      </pre>
      <span className="absolute top-0 right-0 rounded-md bg-sunken py-2.5 pr-1 pl-1.5">
        <CopyButton text={onCopy ?? text} />
      </span>
    </div>
  )
}
