/** The threshold below which the members of an account are warned. An empty field: no warning. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import type { Account } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { useT } from '../../lib/language.ts'
import { asTyped, exact, isAmount, nanoOf, typedDollars } from '../../lib/money.ts'
import { sessionQuery, useCanWrite } from '../../lib/session.ts'
import { DollarField } from '../../parts/dollar-field.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure, Note } from '../../ui/page.tsx'

export function LowBalanceForm({ account }: { readonly account: Account }) {
  const t = useT()
  const canWrite = useCanWrite()
  const client = useQueryClient()
  const { low_balance_nano_usd: before } = account
  const [text, setText] = useState(before === null ? '' : asTyped(before))
  const dollars = typedDollars(text)
  const save = useMutation({
    mutationFn: () =>
      api.put<Account>(path`accounts/${account.id}/low-balance`, {
        threshold_nano_usd: dollars === undefined ? null : nanoOf(dollars).toString(),
      }),
    // The banner reads the data of the session.
    onSuccess: () => client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  })
  if (!canWrite) return <p>{before === null ? t('low.never') : t('low.below', { threshold: exact(before) })}</p>
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (isAmount(text)) save.mutate()
  }
  return (
    <form onSubmit={submit} className="space-y-3">
      {save.error && <Failure error={save.error} />}
      {save.isSuccess && <Note kind="good">{t('low.saved')}</Note>}
      <DollarField
        label={t('low.threshold')}
        hint={t('low.hint')}
        placeholder={t('low.never')}
        value={text}
        onType={setText}
      />
      <Button type="submit" busy={save.isPending}>
        {t('save')}
      </Button>
    </form>
  )
}
