/**
 * The target of a one-time link, where the user chooses a password. The secret is in the fragment (`#`) of the URL, so
 * that no server sees it.
 */
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { SignInForm, NameField, PasswordField } from '../features/sign-in/sign-in-form.tsx'
import { SignInFrame } from '../features/sign-in/sign-in-frame.tsx'
import { useForm } from '../features/sign-in/use-form.ts'
import type { Answers } from '../lib/api-types.gen.ts'
import { api, type ApiError } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { useProblemText } from '../lib/problem.ts'
import { Failure, Waiting } from '../ui/page.tsx'

type Holder = Answers['POST /links/check']

/** Read once and then removed from the URL, so that no history keeps it. */
function takeToken(): string {
  const token = location.hash.slice(1)
  if (token) history.replaceState(null, '', location.pathname)
  return token
}

export function SetupPage() {
  const t = useT()
  const [token] = useState(takeToken)
  const [holder, setHolder] = useState<Holder>()
  const [error, setError] = useState<ApiError>()
  useEffect(() => {
    api.post<Holder>('links/check', { token: token || 'none' }).then(setHolder, (thrown: ApiError) => setError(thrown))
  }, [token])
  if (error) {
    return (
      <SignInFrame title={t('setup.void')} hint={t('setup.voidHint')}>
        <Failure error={error} />
        <Link to="/sign-in" className="mt-4 inline-block text-accent underline">
          {t('signIn.title')}
        </Link>
      </SignInFrame>
    )
  }
  return holder ? <Choose token={token} holder={holder} /> : <Waiting />
}

function Choose({ token, holder }: { readonly token: string; readonly holder: Holder }) {
  const t = useT()
  const problemText = useProblemText()
  const navigate = useNavigate()
  const [name, setName] = useState(holder.name ?? '')
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const isDifferent = again !== '' && again !== password
  const form = useForm(async () => {
    if (again !== password) return
    await api.post('links/redeem', { token, password, ...(holder.name === null ? { name } : {}) })
    await navigate({ to: '/' })
  })
  const { error } = form
  const isFirst = holder.name === null
  return (
    <SignInFrame
      title={isFirst ? t('setup.first') : t('setup.hello', { name: holder.name })}
      hint={isFirst ? t('setup.firstHint') : t('setup.hint')}
    >
      <SignInForm form={form} submit={t('setup.submit')} disabled={again !== password} beside="name">
        <NameField
          value={name}
          onType={setName}
          readOnly={!isFirst}
          autoFocus={isFirst}
          error={error?.param === 'name' ? problemText(error).text : undefined}
        />
        <PasswordField
          label={t('setup.password')}
          hint={t('setup.passwordHint', { n: holder.password_chars_min })}
          minLength={holder.password_chars_min}
          value={password}
          onType={setPassword}
          autoComplete="new-password"
        />
        <PasswordField
          label={t('setup.again')}
          value={again}
          onType={setAgain}
          autoComplete="new-password"
          error={isDifferent ? t('setup.different') : undefined}
        />
      </SignInForm>
    </SignInFrame>
  )
}
