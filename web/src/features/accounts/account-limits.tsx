import { useMutation } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import type { Account } from '../../lib/api-types.gen.ts'
import { anyModelChoices } from '../../lib/choices.ts'
import { editing } from '../../lib/editing.ts'
import { useT } from '../../lib/language.ts'
import { draftOf, limitsOf, LimitsFields } from '../../parts/limits-fields.tsx'
import { ModelChoice } from '../../parts/model-choice.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/page.tsx'
import { changeAccount } from './api.ts'

type Props = { readonly account: Account; readonly onDone: () => void }

/** The models and limits of an account. */
export function AccountLimits({ account, onDone }: Props) {
  const t = useT()
  const [chosen, setChosen] = useState(account.models)
  const [draft, setDraft] = useState(draftOf(account.limits))
  const limits = limitsOf(draft)
  const save = useMutation({
    meta: editing,
    mutationFn: () => changeAccount(account.id, { models: chosen, ...(limits && { limits }) }),
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    save.mutate(undefined, { onSuccess: onDone })
  }
  return (
    <form onSubmit={submit} className="space-y-4">
      {save.error && <Failure error={save.error} />}
      <ModelChoice query={anyModelChoices} chosen={chosen} onChange={setChosen} />
      <LimitsFields draft={draft} onChange={setDraft} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>{t('cancel')}</Button>
        <Button kind="primary" type="submit" busy={save.isPending} disabled={!limits || chosen?.length === 0}>
          {t('save')}
        </Button>
      </div>
    </form>
  )
}
