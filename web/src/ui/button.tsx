import type { ComponentProps } from 'react'
import { classes } from './classes.ts'
import { Icon, type IconName } from './icon.tsx'

export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger' | 'quiet_danger'

const looks: Readonly<Record<ButtonKind, string>> = {
  primary: 'bg-accent text-on-accent border-accent hover:bg-accent-strong hover:border-accent-strong font-medium',
  plain: 'bg-panel text-ink border-edge hover:bg-hover',
  quiet: 'bg-transparent text-ink border-transparent hover:bg-hover',
  quiet_danger: 'bg-transparent text-bad border-transparent hover:bg-bad-soft',
  danger: 'bg-panel text-bad border-bad hover:bg-bad-soft font-medium',
}

/** The look of a button, for links that are drawn as buttons. */
export const buttonClass = (kind: ButtonKind = 'plain', more = ''): string =>
  classes(
    'inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 py-1 leading-5 whitespace-nowrap',
    'transition-colors duration-100 disabled:opacity-55',
    looks[kind],
    more,
  )

type Props = Omit<ComponentProps<'button'>, 'children'> & {
  readonly kind?: ButtonKind
  readonly icon?: IconName
  /** The action is in progress. The button cannot be pressed again. */
  readonly busy?: boolean
  readonly children?: React.ReactNode
}

export function Button({ kind = 'plain', icon, busy = false, className, children, disabled, ...rest }: Props) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
      className={buttonClass(kind, className)}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

/** A button with only an icon. Its name is for screen readers and the tooltip. */
export function IconButton({ icon, label, className, ...rest }: Omit<Props, 'kind'> & { readonly label: string }) {
  return (
    <button
      type="button"
      {...rest}
      title={label}
      aria-label={label}
      className={classes(
        'inline-flex size-7 shrink-0 items-center justify-center rounded-md text-soft hover:bg-hover hover:text-ink',
        'disabled:opacity-40 aria-disabled:opacity-40',
        className,
      )}
    >
      {icon && <Icon name={icon} />}
    </button>
  )
}
