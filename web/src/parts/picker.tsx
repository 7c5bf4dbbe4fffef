/** Chooses one of many by part of its name. A button shows the choice, and the server searches the list. */
import { Popover } from '@base-ui/react/popover'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useId, useState, type KeyboardEvent, type ReactElement } from 'react'
import type { FoundChoices, FoundQuery } from '../lib/choices.ts'
import { useT } from '../lib/language.ts'
import { secretIn } from '../lib/secrets.ts'
import { useSettled } from '../lib/settled.ts'
import { useShow } from '../lib/show.ts'
import { classes } from '../ui/classes.ts'
import type { Choice } from '../ui/field.tsx'
import { Icon } from '../ui/icon.tsx'
import { placeOf } from '../ui/menu.tsx'

type Props = {
  /** The label for screen readers. */
  readonly name: string
  readonly value: string
  /** The text of the button. */
  readonly shown: string
  readonly onChoose: (value: string, choice: Choice) => void
  /** The choices that match a text. */
  readonly query: (q: string) => FoundQuery
  /** Choices that are always shown, such as `any key`. */
  readonly always?: readonly Choice[]
  /** Links at the end of the list. */
  readonly after?: { readonly label: string; readonly onPick: () => void }
  readonly className?: string | undefined
  readonly id?: string | undefined
  /** A look other than that of a field. */
  readonly trigger?: ReactElement<Record<string, unknown>>
}

export function Picker({ name, shown, className, id, trigger, ...list }: Props) {
  const [isOpen, setOpen] = useState(false)
  const [place, setPlace] = useState<HTMLElement>()
  const open = (next: boolean): void => {
    // The opener is noted now. Once the picker is open, the focus is in its dialog.
    if (next) setPlace(placeOf())
    setOpen(next)
  }
  const look = classes('field flex items-center gap-2 text-left', className)
  return (
    <Popover.Root open={isOpen} onOpenChange={open}>
      <Popover.Trigger
        id={id}
        role="combobox"
        aria-label={name}
        title={shown}
        render={trigger ?? <button type="button" className={look} />}
      >
        <span className="min-w-0 grow truncate">{shown}</span>
        <Icon name="down" className="!size-3" />
      </Popover.Trigger>
      <Popover.Portal container={place}>
        <Popover.Positioner sideOffset={4} align="start" className="z-20 outline-none">
          <Popover.Popup
            aria-label={name}
            className="enter-fade w-72 max-w-[calc(100vw-1.5rem)] overflow-hidden rounded-md border bg-panel shadow-float outline-none"
          >
            <Search name={name} {...list} onDone={() => setOpen(false)} />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}

type SearchProps = Pick<Props, 'name' | 'value' | 'onChoose' | 'query' | 'always' | 'after'> & {
  readonly onDone: () => void
}

/** The step of Page up and Page down. */
const LEAP = 10
const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: LEAP, PageUp: -LEAP }

/** A single step wraps around at the ends. A page step stops there. */
function stepped(from: number, step: number, count: number): number {
  const next = from + step
  if (next >= 0 && next < count) return next
  if (Math.abs(step) === 1) return next < 0 ? count - 1 : 0
  return Math.max(0, Math.min(next, count - 1))
}

function Search({ name, value, onChoose, query, always = [], after, onDone }: SearchProps) {
  const t = useT()
  const list = useId()
  const [wanted, setWanted] = useState('')
  const isSecret = secretIn(wanted) !== undefined
  const settled = useSettled(isSecret ? '' : wanted.trim())
  const { data, isPlaceholderData } = useQuery({ ...query(settled), placeholderData: keepPreviousData })
  const choices = [...(wanted === '' ? always : []), ...(isSecret ? [] : (data?.choices ?? []))]
  const [at, setAt] = useState<number>()
  // The first active option is the chosen one. During a search, or if it is not in the list, it is the first option.
  const first = wanted === '' ? choices.findIndex((choice) => choice.value === value) : 0
  const active = Math.min(at ?? Math.max(0, first), choices.length - 1)
  const pick = (choice: Choice | undefined): void => {
    if (!choice) return
    onDone()
    onChoose(choice.value, choice)
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = steps[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt(stepped(active, step, choices.length))
    }
    // The visible options may still be those of the previous search.
    if (event.key === 'Enter') {
      event.preventDefault()
      if (wanted.trim() === settled && !isPlaceholderData) pick(choices[active])
    }
  }
  return (
    <>
      <input
        role="combobox"
        aria-label={t('picker.search', { name })}
        placeholder={t('picker.type')}
        aria-expanded="true"
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={active < 0 ? undefined : `${list}-${active}`}
        autoComplete="off"
        spellCheck={false}
        autoFocus
        value={wanted}
        onChange={(event) => {
          setWanted(event.target.value)
          setAt(undefined)
        }}
        onKeyDown={onKey}
        className="w-full border-b bg-transparent px-3 py-2 outline-none"
      />
      <ul id={list} role="listbox" aria-label={name} className="max-h-72 overflow-y-auto py-1">
        {choices.map((choice, index) => (
          <Option
            key={choice.value}
            id={`${list}-${index}`}
            label={choice.label}
            isChosen={choice.value === value}
            isActive={index === active}
            onPoint={() => setAt(index)}
            onPick={() => pick(choice)}
          />
        ))}
      </ul>
      <Foot found={data} isSecret={isSecret} />
      {after && <After after={after} onDone={onDone} />}
    </>
  )
}

type AfterProps = Required<Pick<Props, 'after'>> & Pick<SearchProps, 'onDone'>

function After({ after, onDone }: AfterProps) {
  return (
    <button
      type="button"
      onClick={() => {
        onDone()
        after.onPick()
      }}
      className="block min-h-8 w-full border-t px-3 text-left hover:bg-hover"
    >
      {after.label}
    </button>
  )
}

type OptionProps = {
  readonly id: string
  readonly label: string
  readonly isChosen: boolean
  readonly isActive: boolean
  readonly onPoint: () => void
  readonly onPick: () => void
}

function Option({ id, label, isChosen, isActive, onPoint, onPick }: OptionProps) {
  return (
    <li
      id={id}
      role="option"
      aria-selected={isChosen}
      title={label}
      ref={(row) => {
        if (isActive) row?.scrollIntoView({ block: 'nearest' })
      }}
      onPointerMove={onPoint}
      onClick={onPick}
      className={classes('flex min-h-8 items-center gap-2 px-3', isActive && 'bg-hover')}
    >
      <span className="min-w-0 grow truncate">{label}</span>
      {isChosen && <Icon name="check" className="text-accent" />}
    </li>
  )
}

function Foot({ found, isSecret }: { readonly found: FoundChoices | undefined; readonly isSecret: boolean }) {
  const t = useT()
  const show = useShow()
  const said = (): string => {
    if (isSecret) return t('picker.secret')
    if (!found) return t('loading')
    if (found.total === 0) return t('picker.none')
    const [last, all] = [show.number(found.choices.length), show.number(found.total)]
    return found.choices.length < found.total ? t('picker.more', { last, all }) : t('list.of', { last, all })
  }
  return (
    <p role="status" className="border-t px-3 py-1.5 text-xs text-soft">
      {said()}
    </p>
  )
}
