import { Link, useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { SignInForm, NameField, PasswordField } from '../features/sign-in/sign-in-form.tsx'
import { SignInFrame } from '../features/sign-in/sign-in-frame.tsx'
import { useForm } from '../features/sign-in/use-form.ts'
import { api } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { hasOperator, showsModels } from '../lib/page-facts.ts'

export function SignInPage() {
  return hasOperator() ? <SignIn /> : <NoOperator />
}

/** Shown while there is no operator: where to find the link that creates the first one. */
function NoOperator() {
  const t = useT()
  return (
    <SignInFrame title={t('signIn.first')} hint={t('signIn.firstLink')}>
      <p className="text-soft">{t('signIn.firstAgain')}</p>
      <pre className="my-2 overflow-x-auto rounded-md bg-sunken px-3 py-2 text-xs">{t('signIn.firstCommand')}</pre>
      <ModelsLink />
    </SignInFrame>
  )
}

function SignIn() {
  const t = useT()
  const router = useRouter()
  const { next } = useSearch({ from: '/sign-in' })
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const form = useForm(async () => {
    await api.post('session', { name, password })
    // Only a path of this console is followed. Any other value leads to the overview.
    if (next?.startsWith('/') && !next.startsWith('//')) router.history.push(router.basepath.replace(/\/$/, '') + next)
    else await router.navigate({ to: '/' })
  })
  return (
    <SignInFrame title={t('signIn.title')}>
      <SignInForm
        form={form}
        submit={t('signIn.submit')}
        below={
          <>
            <p className="text-xs text-soft">{t('signIn.lost')}</p>
            <ModelsLink />
          </>
        }
      >
        <NameField value={name} onType={setName} autoFocus />
        <PasswordField
          label={t('signIn.password')}
          value={password}
          onType={setPassword}
          autoComplete="current-password"
        />
      </SignInForm>
    </SignInFrame>
  )
}

/** A link to the models and prices, if the gateway publishes them. */
function ModelsLink() {
  const t = useT()
  if (!showsModels()) return null
  return (
    <Link to="/models" search={{}} className="inline-block text-accent underline">
      {t('nav.models')}
    </Link>
  )
}
