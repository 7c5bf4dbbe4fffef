import { Menu as Base } from '@base-ui/react/menu'
import { useState, type ReactElement, type ReactNode } from 'react'
import { classes } from './classes.ts'
import { Icon, type IconName } from './icon.tsx'

export type MenuItem = {
  readonly label: ReactNode
  readonly icon?: IconName
  readonly onPick: () => void
  readonly kind?: 'plain' | 'danger'
  /** Whether the item is the current choice. */
  readonly isChosen?: boolean
}

/**
 * The list is part of the page, so that landmark navigation finds it. Inside a dialog it is part of the dialog, because
 * the page is below the dialog.
 */
export const placeOf = (): HTMLElement | undefined =>
  document.activeElement?.closest('[role=dialog]') ? undefined : (document.getElementById('main') ?? undefined)

/** A button that opens a list of actions. */
export function Menu({
  trigger,
  groups,
}: {
  readonly trigger: ReactElement<Record<string, unknown>>
  readonly groups: readonly (readonly MenuItem[])[]
}) {
  const [place, setPlace] = useState<HTMLElement>()
  return (
    <Base.Root onOpenChange={() => setPlace(placeOf())}>
      <Base.Trigger render={trigger} />
      <Base.Portal container={place}>
        <Base.Positioner sideOffset={4} align="end" className="z-20 outline-none">
          <Base.Popup className="enter-fade max-h-[70vh] min-w-44 overflow-y-auto rounded-md border bg-panel py-1 shadow-float outline-none">
            {groups.map((items, at) => (
              <div key={at} className="not-first:mt-1 not-first:border-t not-first:pt-1">
                {items.map((item, index) => (
                  <Base.Item
                    key={index}
                    onClick={item.onPick}
                    className={classes(
                      'flex min-h-8 items-center gap-2 px-3 outline-none data-highlighted:bg-hover',
                      item.kind === 'danger' && 'text-bad',
                    )}
                  >
                    {item.icon && <Icon name={item.icon} />}
                    <span
                      title={typeof item.label === 'string' ? item.label : undefined}
                      className="max-w-64 grow truncate"
                    >
                      {item.label}
                    </span>
                    {item.isChosen && <Icon name="check" className="text-accent" />}
                  </Base.Item>
                ))}
              </div>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
