import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { chooseLanguage, useLanguage } from '../lib/language.ts'
import { prefer, usePreferences, type Language } from '../lib/preferences.ts'
import { useMe } from '../lib/session.ts'
import { StopDialog } from '../parts/stop.tsx'
import { IconButton } from '../ui/button.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { useSignOut } from './sign-out.ts'

const languages: readonly (readonly [Language, string])[] = [
  ['en', 'English'],
  ['zh-CN', '简体中文'],
]

export function UserMenu() {
  const { language, t } = useLanguage()
  const me = useMe()
  const navigate = useNavigate()
  const { theme, zone = 'local' } = usePreferences()
  const signOut = useSignOut()
  const themes: readonly MenuItem[] = (['light', 'dark', undefined] as const).map((wanted) => ({
    label: t(`theme.${wanted ?? 'system'}`),
    isChosen: theme === wanted,
    onPick: () => prefer({ theme: wanted }),
  }))
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Menu
        trigger={<IconButton icon="people" label={`${me.user.name}: ${t('shell.you')}`} className="!size-8 border" />}
        groups={[
          [{ label: t('shell.profile', { name: me.user.name }), onPick: () => void navigate({ to: '/you' }) }],
          themes,
          languages.map(([value, label]) => ({
            label,
            isChosen: value === language,
            onPick: () => void chooseLanguage(value),
          })),
          (['local', 'utc'] as const).map((value) => ({
            label: t(`zone.${value}`),
            isChosen: zone === value,
            onPick: () => prefer({ zone: value }),
          })),
          [
            { label: t('shell.signOut'), onPick: () => signOut.mutate('session') },
            { label: t('shell.signOutAll'), onPick: () => setAsking(true) },
          ],
        ]}
      />
      <StopDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={t('shell.signOutAllTitle')}
        text={t('shell.signOutAllText')}
        action={t('shell.signOutAll')}
        isBusy={signOut.isPending}
        error={signOut.error}
        onStop={() => signOut.mutate('sessions')}
      />
    </>
  )
}
