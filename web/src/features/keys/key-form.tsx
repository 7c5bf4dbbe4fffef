import { useState, type ReactNode, type SyntheticEvent } from 'react'
import type { ApiKey } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { modelChoices } from '../../lib/choices.ts'
import { draftOf, limitsOf, LimitsFields } from '../../parts/limits-fields.tsx'
import { ModelChoice } from '../../parts/model-choice.tsx'
import { Button } from '../../ui/button.tsx'
import { DialogButtons } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Fold } from '../../ui/fold.tsx'
import { Failure } from '../../ui/page.tsx'
import type { KeyDraft } from './api.ts'

type Props = {
  readonly account: string
  readonly before?: ApiKey
  readonly submit: ReactNode
  readonly isBusy: boolean
  readonly error: Error | null
  readonly onSubmit: (draft: KeyDraft) => void
  readonly onCancel: () => void
}

/** Only the name is required. The other fields show their defaults. */
export function KeyForm({ account, before, submit, isBusy, error, onSubmit, onCancel }: Props) {
  const t = useT()
  const [name, setName] = useState(before?.name ?? '')
  const [chosen, setChosen] = useState<readonly string[] | null>(before?.models ?? null)
  const [limits, setLimits] = useState(draftOf(before?.limits))
  const checked = limitsOf(limits)
  const send = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (checked && chosen?.length !== 0) onSubmit({ name: name.trim(), models: chosen, limits: checked })
  }
  return (
    <form onSubmit={send} className="space-y-4">
      {error && <Failure error={error} />}
      <TextField
        label={t('keys.name')}
        hint={t('keys.nameHint')}
        value={name}
        onChange={(event) => setName(event.target.value)}
        maxLength={100}
        pattern=".*\S.*"
        autoFocus
        required
      />
      <ModelChoice query={modelChoices(account)} chosen={chosen} onChange={setChosen} />
      <Fold title={t('limit.title')} isOpen={before !== undefined} isMarked={checked === undefined}>
        <LimitsFields draft={limits} onChange={setLimits} />
      </Fold>
      <DialogButtons>
        <Button onClick={onCancel}>{t('cancel')}</Button>
        <Button kind="primary" type="submit" busy={isBusy} disabled={!checked || chosen?.length === 0}>
          {submit}
        </Button>
      </DialogButtons>
    </form>
  )
}
