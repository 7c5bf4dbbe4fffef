import { Link, useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Door } from '../features/door/door.tsx'
import { useForm } from '../features/door/use-form.ts'
import { api } from '../lib/api.ts'
import { useT } from '../lib/i18n/language.ts'
import { showsModels } from '../lib/show-models.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Failure } from '../ui/page.tsx'

export function SignInPage() {
  const t = useT()
  const router = useRouter()
  const { next } = useSearch({ from: '/sign-in' })
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const { isBusy, error, submit } = useForm(async () => {
    await api.post('session', { name, password })
    // Only a path of ours: whatever else is in the address leads home.
    if (next?.startsWith('/') && !next.startsWith('//')) router.history.push(router.basepath.replace(/\/$/, '') + next)
    else await router.navigate({ to: '/' })
  })
  return (
    <Door title={t('signIn.title')}>
      <form onSubmit={submit} className="space-y-3">
        {error && <Failure error={error} />}
        <TextField
          label={t('signIn.name')}
          value={name}
          onChange={(event) => setName(event.target.value)}
          autoComplete="username"
          autoCapitalize="none"
          autoFocus
          required
        />
        <TextField
          label={t('signIn.password')}
          type="password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          autoComplete="current-password"
          required
        />
        <Button kind="primary" type="submit" busy={isBusy} className="w-full">
          {t('signIn.submit')}
        </Button>
        <p className="text-xs text-soft">{t('signIn.lost')}</p>
        {showsModels() && (
          <Link to="/models" search={{}} className="inline-block text-accent underline">
            {t('nav.models')}
          </Link>
        )}
      </form>
    </Door>
  )
}
