/** The destinations and actions of the command bar. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { Account, Answers, SecretHolder, Task } from '../lib/api-types.gen.ts'
import { api, path, type Page } from '../lib/api.ts'
import { accountChoices } from '../lib/choices.ts'
import { chooseLanguage, useLanguage, useT } from '../lib/language.ts'
import { readId, type IdKind } from '../lib/ids.ts'
import { prefer } from '../lib/preferences.ts'
import { secretIn } from '../lib/secrets.ts'
import { isOperator, useCanWrite, useMe } from '../lib/session.ts'
import { useSettled } from '../lib/settled.ts'
import type { IconName } from '../ui/icon.tsx'
import { accountPlaces, operatorPlaces } from './places.ts'
import { useSignOut } from './sign-out.ts'

export type Target = { readonly name: string; readonly group: string; readonly icon: IconName; readonly go: () => void }

const SHOWN_MAX = 40

export function useTargets(accountId: string | undefined, wanted: string): readonly Target[] {
  const byId = useTargetById(accountId, wanted)
  const isSecret = secretIn(wanted) !== undefined
  const found = useAccounts(isSecret ? '' : wanted)
  const all = [...usePages(accountId), ...useActions(accountId)]
  const secret = useSecret(accountId, wanted)
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = ({ name, group }: Target): boolean =>
    words.every((word) => `${name} ${group}`.toLowerCase().includes(word))
  if (isSecret && secret) return [secret]
  // The server has matched these already, by more than their names.
  return [...byId, ...all.filter(fits), ...found].slice(0, SHOWN_MAX)
}

function usePages(accountId: string | undefined): readonly Target[] {
  const t = useT()
  const me = useMe()
  const navigate = useNavigate()
  const params = { account: accountId ?? '' }
  return [
    ...(accountId === undefined ? [] : accountPlaces.map((place) => ({ ...place, group: t('shell.account') }))),
    ...(isOperator(me) ? operatorPlaces.map((place) => ({ ...place, group: t('shell.operator') })) : []),
    { to: '/you', name: 'you.title', icon: 'people', group: t('shell.account') } as const,
  ].map(({ to, name, icon, group }): Target => {
    const go = (): void => void navigate({ to, params, search: {} })
    return { name: t(name), group, icon, go }
  })
}

function useAccounts(wanted: string): readonly Target[] {
  const t = useT()
  const me = useMe()
  const navigate = useNavigate()
  const settled = useSettled(wanted.trim())
  const { data: accounts } = useQuery({ ...accountChoices(settled), enabled: isOperator(me) })
  return (accounts?.choices ?? []).map(({ value: id, label: name }): Target => {
    const go = (): void => void navigate({ to: '/a/$account/overview', params: { account: id } })
    return { name, group: t('nav.accounts'), icon: 'people', go }
  })
}

/** The owner of a pasted secret: its key or its account, for users who may look it up. Undefined: not a secret. */
function useSecret(accountId: string | undefined, wanted: string): Target | undefined {
  const t = useT()
  const isOperators = isOperator(useMe())
  const navigate = useNavigate()
  const kind = secretIn(wanted)
  if (kind === undefined || kind === 'video') return undefined
  const route = isOperators ? 'secrets/lookup' : path`accounts/${accountId ?? ''}/secrets/lookup`
  const go = async (): Promise<void> => {
    const { kind: found, id, account } = await api.post<SecretHolder>(route, { secret: wanted.trim() })
    if (found === 'key' && id !== null && account !== null)
      await navigate({ to: '/a/$account/keys', params: { account }, search: { key: id } })
    else if (isOperators)
      await navigate({ to: '/operator/accounts', search: account === null ? {} : { open: account } })
  }
  return { name: t('secret.lookUp'), group: t(`secret.${kind}`), icon: 'search', go: () => void go() }
}

/** The account of a request or a key, for users who may view every account. Undefined: it cannot be found. */
async function ownerOf(kind: IdKind, id: string): Promise<string | undefined> {
  try {
    if (kind === 'request') return (await api.get<Answers['GET /requests/{request}']>(path`requests/${id}`)).account
    if (kind === 'key') return (await api.get<Page<Account>>('accounts', { q: id, limit: 1 })).data[0]?.id
  } catch {
    // The target page shows the error.
  }
  return undefined
}

/** A video id gives access to the video. The URL therefore has the id of its request, or the start of the id. */
async function addressable(account: string, id: string): Promise<string> {
  try {
    return (await api.get<Task>(path`accounts/${account}/tasks/${id}`)).request
  } catch {
    // The target page shows the error.
    return `${id.slice(0, 9)}…`
  }
}

const looks = {
  request: ['nav.requests', 'list'],
  key: ['nav.keys', 'key'],
  task: ['nav.tasks', 'tasks'],
  account: ['nav.accounts', 'people'],
  program: ['programs.title', 'key'],
} as const satisfies Readonly<Record<IdKind, readonly [string, IconName]>>

function useTargetById(accountId: string | undefined, wanted: string): readonly Target[] {
  const t = useT()
  const isOperators = isOperator(useMe())
  const navigate = useNavigate()
  const named = readId(wanted)
  if (!named || (named.kind === 'account' && !isOperators)) return []
  const { kind, id } = named
  if (accountId === undefined && !isOperators) return []
  const open = (account: string | undefined, shown: string): unknown => {
    if (kind === 'account') return navigate({ to: '/operator/accounts', search: { open: id } })
    if (kind === 'program' && isOperators) return navigate({ to: '/operator/settings', search: { tab: 'programs' } })
    if (account === undefined) return navigate({ to: '/operator/accounts', search: { q: id } })
    const params = { account }
    switch (kind) {
      case 'request':
        return navigate({ to: '/a/$account/requests/$request', params: { ...params, request: id }, search: {} })
      case 'key':
        return navigate({ to: '/a/$account/keys', params, search: { key: id } })
      case 'task':
        return navigate({ to: '/a/$account/tasks', params, search: { task: shown } })
      case 'program':
        return navigate({ to: '/a/$account/settings', params, search: { tab: 'programs' } })
    }
  }
  const go = async (): Promise<void> => {
    const owner = (isOperators ? await ownerOf(kind, id) : undefined) ?? accountId
    open(owner, kind === 'task' && owner !== undefined ? await addressable(owner, id) : id)
  }
  const [group, icon] = looks[kind]
  return [{ name: id, group: t(group), icon, go: () => void go() }]
}

function useActions(accountId: string | undefined): readonly Target[] {
  const { t, language } = useLanguage()
  const navigate = useNavigate()
  const signOut = useSignOut()
  const [canWrite, isOperators] = [useCanWrite(), isOperator(useMe())]
  const other = language === 'en' ? 'zh-CN' : 'en'
  const params = { account: accountId ?? '' }
  const dialog = 'new'
  const actions: readonly (readonly [string, IconName, () => unknown])[] = [
    ...(canWrite && accountId !== undefined
      ? ([
          [t('keys.create'), 'key', () => navigate({ to: '/a/$account/keys', params, search: { dialog } })],
          [
            t('billing.redeem'),
            'ticket',
            () => navigate({ to: '/a/$account/billing', params, search: { dialog: 'redeem' } }),
          ],
        ] as const)
      : []),
    ...(isOperators
      ? ([
          [t('providers.add'), 'plug', () => navigate({ to: '/operator/providers', search: { dialog } })],
          [t('routing.add'), 'route', () => navigate({ to: '/operator/models', search: { dialog } })],
          [t('accounts.create'), 'people', () => navigate({ to: '/operator/accounts', search: { dialog } })],
          [t('codes.make'), 'ticket', () => navigate({ to: '/operator/codes', search: { dialog } })],
          [t('prices.import'), 'tag', () => navigate({ to: '/operator/prices', search: { tab: 'import' } })],
        ] as const)
      : []),
    [t('theme.light'), 'sun', () => prefer({ theme: 'light' })],
    [t('theme.dark'), 'moon', () => prefer({ theme: 'dark' })],
    [t('theme.system'), 'settings', () => prefer({ theme: undefined })],
    [other === 'en' ? 'English' : '简体中文', 'settings', () => chooseLanguage(other)],
    [t('shell.docs'), 'external', () => location.assign(new URL('../docs', document.baseURI))],
    [t('shell.signOut'), 'out', () => signOut.mutate('session')],
    [t('shell.signOutAll'), 'out', () => signOut.mutate('sessions')],
  ]
  return actions.map(([name, icon, go]) => ({ name, icon, group: t('shell.actions'), go: () => void go() }))
}
