import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { accountQuery } from '../lib/accounts.ts'
import { accountChoices } from '../lib/choices.ts'
import { useT } from '../lib/language.ts'
import { isOperator, useMe } from '../lib/session.ts'
import { useStarted } from '../lib/started.ts'
import { Picker } from '../parts/picker.tsx'
import { Icon } from '../ui/icon.tsx'
import { IconButton } from '../ui/button.tsx'
import { accountPlaces, operatorPlaces, type Place } from './places.ts'

type Props = { readonly accountId: string | undefined }

/** The navigation: at the side if there is room, otherwise behind a button. */
export function Navigation({
  accountId,
  isOpen,
  onClose,
}: Props & { readonly isOpen: boolean; readonly onClose: () => void }) {
  const t = useT()
  return (
    <>
      <div className="sticky top-0 hidden h-dvh overflow-y-auto border-r bg-panel lg:block">
        <Sections accountId={accountId} />
      </div>
      <Dialog.Root open={isOpen} onOpenChange={(open) => open || onClose()}>
        <Dialog.Portal>
          <Dialog.Backdrop className="fixed inset-0 bg-[oklch(0.15_0.02_262_/_0.45)]" />
          <Dialog.Popup className="fixed inset-y-0 left-0 w-64 overflow-y-auto bg-panel shadow-float">
            <Dialog.Title className="sr-only">{t('shell.menu')}</Dialog.Title>
            <Dialog.Close
              className="!absolute top-2.5 right-2"
              render={<IconButton icon="cross" label={t('close')} />}
            />
            <Sections accountId={accountId} />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </>
  )
}

function Sections({ accountId }: Props) {
  const t = useT()
  const me = useMe()
  return (
    <nav aria-label={t('shell.menu')} className="flex flex-col pb-6">
      <Link to="/" className="flex h-12 items-center gap-2 px-4 text-base font-semibold">
        <img src="./icon.svg" alt="" className="size-5" />
        Tollgate
      </Link>
      {accountId !== undefined && (
        <>
          <AccountName accountId={accountId} />
          <Places places={accountPlaces} accountId={accountId} />
        </>
      )}
      {isOperator(me) && (
        <>
          <h2 className="mt-5 mb-1 px-4 text-xs font-medium text-soft">{t('shell.operator')}</h2>
          <Places places={operatorPlaces} accountId={undefined} />
        </>
      )}
    </nav>
  )
}

function Places({ places, accountId }: { readonly places: readonly Place[]; readonly accountId: string | undefined }) {
  const t = useT()
  return (
    <ul className="px-2">
      {places.map(({ to, name, icon }) => (
        <li key={to}>
          <Link
            to={to as '/a/$account/overview'}
            params={{ account: accountId ?? '' }}
            search={{}}
            activeOptions={{ includeSearch: false }}
            activeProps={{ className: 'bg-accent-soft !text-accent-strong font-medium' }}
            className="flex min-h-8 items-center gap-2.5 rounded-md px-2 text-soft hover:bg-hover hover:text-ink"
          >
            <Icon name={icon} />
            {t(name)}
            {to === '/a/$account/tasks' && <TaskBadge accountId={accountId} />}
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** Videos started in this tab: the number that have ended unseen, or the number in progress. */
function TaskBadge({ accountId }: Props) {
  const t = useT()
  const own = useStarted().filter(({ account }) => account === accountId)
  const ended = own.filter(({ news }) => news !== 'none').length
  const open = own.filter(({ state }) => state === 'open').length
  if (ended + open === 0) return null
  return (
    <span
      className={`ml-auto rounded-full px-1.5 text-xs ${ended > 0 ? 'bg-accent font-medium text-on-accent' : 'bg-sunken text-soft'}`}
    >
      <span aria-hidden="true">{ended || open}</span>
      <span className="sr-only">{ended > 0 ? t('nav.ended', { n: ended }) : t('nav.open', { n: open })}</span>
    </span>
  )
}

const nameLook = 'mx-2 mb-2 flex min-h-8 min-w-0 items-center gap-2 rounded-md border px-2 text-left'

/** The account whose pages are shown. An operator can switch to another account here. */
function AccountName({ accountId }: { readonly accountId: string }) {
  const me = useMe()
  if (isOperator(me)) return <AccountSwitch accountId={accountId} />
  return (
    <p className={nameLook} title={me.account?.name}>
      <span className="truncate">{me.account?.name}</span>
    </p>
  )
}

function AccountSwitch({ accountId }: { readonly accountId: string }) {
  const t = useT()
  const navigate = useNavigate()
  const { data: account } = useQuery(accountQuery(accountId))
  return (
    <Picker
      name={t('shell.switch')}
      value={accountId}
      shown={account?.name ?? '…'}
      query={accountChoices}
      after={{ label: t('shell.allAccounts'), onPick: () => void navigate({ to: '/operator/accounts' }) }}
      onChoose={(id) => void navigate({ to: '/a/$account/overview', params: { account: id } })}
      trigger={<button type="button" className={`${nameLook} hover:bg-hover`} />}
    />
  )
}
