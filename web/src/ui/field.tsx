/** Form controls. Each has a label, a hint, and its error beside it. */
import { useId, useState, type ComponentProps, type ReactNode } from 'react'
import { classes } from './classes.ts'

type Around = { readonly label: ReactNode; readonly hint?: ReactNode; readonly error?: string | undefined }
type WiredField = {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

export function Field({
  label,
  hint,
  error,
  children,
}: Around & { readonly children: (wired: WiredField) => ReactNode }) {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block font-medium break-words">
        {label}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {hint && (
        <p id={`${id}-hint`} className="mt-1 text-xs text-soft">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} role="alert" className="mt-1 text-xs text-bad">
          {error}
        </p>
      )}
    </div>
  )
}

export function TextField({ label, hint, error, className, ...rest }: Around & ComponentProps<'input'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => <input {...rest} {...wired} className={classes('field', className)} />}
    </Field>
  )
}

export function TextArea({ label, hint, error, className, ...rest }: Around & ComponentProps<'textarea'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => <textarea rows={3} {...rest} {...wired} className={classes('field py-1.5', className)} />}
    </Field>
  )
}

export type Choice<V extends string = string> = { readonly value: V; readonly label: string }

type SelectProps<V extends string> = {
  readonly choices: readonly Choice<V>[]
  readonly value: V
  readonly onChoose: (value: V) => void
  readonly disabled?: boolean
  readonly autoFocus?: boolean
  readonly className?: string | undefined
}

export function SelectField<V extends string>({ label, hint, error, ...rest }: Around & SelectProps<V>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => <Select {...rest} wired={wired} />}
    </Field>
  )
}

/** The native select, which is familiar on phones, too. `name` is for screen readers. */
export function Select<V extends string>({
  choices,
  value,
  onChoose,
  wired,
  name,
  className,
  ...rest
}: SelectProps<V> & { readonly wired?: WiredField; readonly name?: string }) {
  const [chosen, setChosen] = useState<{ readonly value: V; readonly instead: V }>()
  // A choice that changes the URL returns as a value only after the page has followed. Until then React would restore
  // the old value: each further letter would choose again, and the list that Enter opens would choose the old value.
  if (chosen && chosen.instead !== value) setChosen(undefined)
  return (
    <select
      {...rest}
      {...wired}
      aria-label={name}
      value={chosen?.instead === value ? chosen.value : value}
      onChange={(event) => {
        const choice = event.target.value as V
        setChosen({ value: choice, instead: value })
        onChoose(choice)
      }}
      className={classes('field !pr-1.5', className)}
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
  )
}

export function Checkbox({ label, hint, ...rest }: Around & ComponentProps<'input'>) {
  return (
    <label className="flex min-h-6 items-start gap-2">
      <input type="checkbox" {...rest} className="mt-0.5 size-4 shrink-0 accent-accent" />
      <span className="min-w-0">
        <span className="block break-words">{label}</span>
        {hint && <span className="block text-xs text-soft">{hint}</span>}
      </span>
    </label>
  )
}

type PressProps<V extends string> = Pick<SelectProps<V>, 'choices' | 'value' | 'onChoose'> & {
  /** The classes of the chosen option, and those of the others. */
  readonly look: readonly [chosen: string, other: string]
  readonly className: string
}

/** Options as buttons. The chosen one is pressed. */
const Presses = <V extends string>({ choices, value, onChoose, look: [chosen, other], className }: PressProps<V>) =>
  choices.map((choice) => (
    <button
      key={choice.value}
      type="button"
      aria-pressed={choice.value === value}
      onClick={() => onChoose(choice.value)}
      className={classes(className, choice.value === value ? chosen : other)}
    >
      {choice.label}
    </button>
  ))

type NamedProps<V extends string> = SelectProps<V> & { readonly name: string }

/** A few options side by side. One of them is chosen. */
export function Segments<V extends string>({ name, ...rest }: NamedProps<V>) {
  return (
    <div
      role="group"
      aria-label={name}
      className="inline-flex max-w-full overflow-x-auto rounded-md border border-edge"
    >
      <Presses
        {...rest}
        look={['bg-accent-soft font-medium text-accent-strong', 'text-soft hover:bg-hover']}
        className="min-h-[30px] px-2.5 whitespace-nowrap not-first:border-l border-line -outline-offset-2"
      />
    </div>
  )
}

/** Many or long options, which wrap. */
export function Chips<V extends string>({ name, ...rest }: NamedProps<V>) {
  return (
    <div role="group" aria-label={name} className="min-w-0">
      <span aria-hidden="true" className="mb-1 block font-medium">
        {name}
      </span>
      <div className="flex flex-wrap gap-1.5">
        <Presses
          {...rest}
          look={[
            'border-accent bg-accent-soft font-medium text-accent-strong',
            'border-edge text-soft hover:bg-hover hover:text-ink',
          ]}
          className="min-h-7 rounded-full border px-2.5 whitespace-nowrap"
        />
      </div>
    </div>
  )
}
