/** The frame of operator pages. Other users, and operators who view an account as a member, see a notice instead. */
import { Link, Outlet } from '@tanstack/react-router'
import { useT } from '../lib/language.ts'
import { isOperator, useMe } from '../lib/session.ts'

export function OperatorOnly() {
  const t = useT()
  if (isOperator(useMe())) return <Outlet />
  return (
    <div className="mx-auto max-w-md px-4 py-16 text-center">
      <h1 className="text-lg font-semibold">{t('operator.only')}</h1>
      <Link to="/" className="mt-4 inline-block text-accent underline">
        {t('missing.home')}
      </Link>
    </div>
  )
}
