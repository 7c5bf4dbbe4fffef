/** The frame of every page: the current location, the navigation and the user menu. */
import { QueryClientProvider } from '@tanstack/react-query'
import { Outlet, useNavigate, useParams, useRouter, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useLanguage } from '../lib/language.ts'
import { prefer, preferences } from '../lib/preferences.ts'
import { isOperator, useMe } from '../lib/session.ts'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { CommandBar } from './command-bar.tsx'
import { LowBalance } from './low-balance.tsx'
import { Navigation } from './navigation.tsx'
import { accountPlaces, operatorPlaces, type Place } from './places.ts'
import { forgetEverything, queryClient, whenSignedOut } from './queries.ts'
import { TaskWatch } from './task-watch.tsx'
import { UserMenu } from './user-menu.tsx'
import { ViewBanner } from './view-banner.tsx'

const shortcut = /mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'

export function Shell() {
  return (
    <QueryClientProvider client={queryClient}>
      <Frame />
    </QueryClientProvider>
  )
}

/** The account whose pages are shown. On an operator page it is the user's own, or the one viewed last. */
function useAccountId(): string | undefined {
  const me = useMe()
  const { account } = useParams({ strict: false })
  const id = account ?? me.account?.id ?? (isOperator(me) ? preferences().account : undefined)
  useEffect(() => {
    if (account !== undefined && isOperator(me)) prefer({ account })
  }, [account, me])
  return id
}

function Frame() {
  const { t } = useLanguage()
  const navigate = useNavigate()
  const router = useRouter()
  const accountId = useAccountId()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const [isOpen, setOpen] = useState(false)
  const [isSearching, setSearching] = useState(false)
  useEffect(() => setOpen(false), [path])
  useEffect(() => {
    whenSignedOut(() => {
      forgetEverything()
      // After a new sign-in the user returns to this page. Several requests may report the end of the session at once.
      const { pathname, href } = router.latestLocation
      if (pathname !== '/sign-in') void navigate({ to: '/sign-in', search: { next: href } })
    })
  }, [navigate, router])
  useShortcut(() => setSearching(true))
  const title = t(placeAt(path)?.name ?? 'you.title')
  usePageTitle(title, path)
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[13rem_1fr]">
      <a
        href="#main"
        className="sr-only z-30 rounded bg-accent px-3 py-1 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {t('shell.skip')}
      </a>
      <Navigation accountId={accountId} isOpen={isOpen} onClose={() => setOpen(false)} />
      <div className="flex min-w-0 flex-col">
        <ViewBanner />
        <LowBalance />
        <div className="flex h-12 shrink-0 items-center gap-2 border-b bg-panel px-4">
          <IconButton icon="menu" label={t('shell.menu')} onClick={() => setOpen(true)} className="lg:hidden" />
          <Breadcrumb page={title} isOperators={path.includes('/operator/')} />
          <button
            type="button"
            onClick={() => setSearching(true)}
            className="flex min-h-7 items-center gap-2 rounded-md border px-2 text-soft hover:bg-hover hover:text-ink"
          >
            <Icon name="search" />
            <span className="hidden sm:inline">{t('shell.search')}</span>
            <kbd className="hidden font-sans text-xs sm:inline">{shortcut}</kbd>
            <span className="sr-only sm:hidden">{t('shell.search')}</span>
          </button>
          <UserMenu />
        </div>
        <main id="main" tabIndex={-1} className="mx-auto w-full max-w-[84rem] grow px-4 py-5 outline-none sm:px-6">
          <Outlet />
        </main>
      </div>
      <TaskWatch listed={path.endsWith('/tasks') ? accountId : undefined} />
      <CommandBar open={isSearching} onClose={() => setSearching(false)} accountId={accountId} />
    </div>
  )
}

/** Both sections have pages with the same name. The section name in front tells them apart. */
function placeAt(path: string): Place | undefined {
  const [, operators] = /\/operator\/(\w+)/.exec(path) ?? []
  if (operators !== undefined) return operatorPlaces.find(({ to }) => to === `/operator/${operators}`)
  const [, accounts] = /\/a\/[^/]+\/(\w+)/.exec(path) ?? []
  return accountPlaces.find(({ to }) => to === `/a/$account/${accounts}`)
}

function Breadcrumb({ page, isOperators }: { readonly page: string; readonly isOperators: boolean }) {
  const { t } = useLanguage()
  const { request } = useParams({ strict: false })
  return (
    <nav aria-label={t('shell.where')} className="min-w-0 grow">
      <ol className="flex items-center gap-1.5 text-soft">
        <li className="hidden sm:block">{isOperators ? t('shell.operator') : t('shell.account')}</li>
        <li aria-hidden="true" className="hidden sm:block">
          /
        </li>
        <li aria-current="page" className={`truncate ${request ? '' : 'font-medium text-ink'}`}>
          {page}
        </li>
        {request && (
          <>
            <li aria-hidden="true">/</li>
            <li className="truncate font-mono text-xs text-ink">{request}</li>
          </>
        )}
      </ol>
    </nav>
  )
}

/** Announces a new page to screen readers: it sets the title and moves the focus to the start. */
function usePageTitle(title: string, path: string): void {
  const before = useRef(path)
  useEffect(() => {
    document.title = `${title} · Tollgate`
    if (before.current !== path && document.activeElement === document.body) document.getElementById('main')?.focus()
    before.current = path
  }, [title, path])
}

function useShortcut(run: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      run()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}
