import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { SecretHolder } from '../lib/api-types.gen.ts'
import { api } from '../lib/api.ts'
import { useT } from '../lib/language.ts'
import { secretIn } from '../lib/secrets.ts'
import { IconButton } from '../ui/button.tsx'
import { Failure, Note } from '../ui/page.tsx'

type Props = {
  readonly secret: string
  /** The route that finds the owner: `secrets/lookup`, or that of an account. */
  readonly lookUpAt: string | undefined
  readonly onClose: () => void
}

/** Shown when a secret was pasted into a search. The secret gets into no URL, and the user can look up its owner. */
export function SecretNote({ secret, lookUpAt, onClose }: Props) {
  const t = useT()
  const { mutate, data, error } = useMutation({
    mutationFn: (at: string) => api.post<SecretHolder>(at, { secret: secret.trim() }),
  })
  useEffect(() => {
    if (lookUpAt !== undefined) mutate(lookUpAt)
  }, [lookUpAt, mutate, secret])
  return (
    <Note kind="warn" action={<IconButton icon="cross" label={t('close')} onClick={onClose} />}>
      <p>{t('secret.kept', { what: t(`secret.${secretIn(secret) ?? 'other'}`) })}</p>
      {error && <Failure error={error} />}
      {data && <Whose holder={data} isOperators={lookUpAt === 'secrets/lookup'} />}
    </Note>
  )
}

function Whose({ holder, isOperators }: { readonly holder: SecretHolder; readonly isOperators: boolean }) {
  const t = useT()
  const { kind, id, account, name, account_name: owner } = holder
  if (kind === 'unknown') return <p>{t('secret.unknown')}</p>
  const text =
    owner === null
      ? t('secret.whose', { what: t(`secret.${kind}`), name: name ?? '' })
      : t('secret.whoseOf', { what: t(`secret.${kind}`), name: name ?? '', account: owner })
  if (account === null) return <p>{text}</p>
  const look = 'underline hover:text-ink'
  return (
    <p>
      {text}{' '}
      {isOperators && (
        <Link to="/operator/accounts" search={{ open: account }} className={look}>
          {t('secret.openAccount')}
        </Link>
      )}{' '}
      {kind === 'key' && id !== null && (
        <Link to="/a/$account/keys" params={{ account }} search={{ key: id }} className={look}>
          {t('secret.openKey')}
        </Link>
      )}
    </p>
  )
}
