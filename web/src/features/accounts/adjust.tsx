import { useMutation } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { useT } from '../../lib/language.ts'
import { nanoOf, typedDollars } from '../../lib/money.ts'
import { DollarField } from '../../parts/dollar-field.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/page.tsx'
import { adjust, adjustmentKinds } from './api.ts'

type Props = { readonly id: string; readonly onDone: () => void }

/** Adjusts the balance by hand. The reason appears in the ledger. */
export function Adjust({ id, onDone }: Props) {
  const t = useT()
  const [kind, setKind] = useState<(typeof adjustmentKinds)[number]>('credit')
  const [amount, setAmount] = useState('')
  const [reason, setReason] = useState('')
  // A second click, or a repetition after a lost connection, is booked once.
  const [ref] = useState(
    () =>
      `console-${Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`,
  )
  const dollars = typedDollars(amount)
  const book = useMutation({
    mutationFn: () =>
      adjust(id, { kind, amount_nano_usd: nanoOf(dollars ?? '0').toString(), reason: reason.trim(), ref }),
    onSuccess: onDone,
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (dollars !== undefined) book.mutate()
  }
  return (
    <form onSubmit={submit} className="space-y-3 rounded-md border p-3" aria-label={t('accounts.adjust')}>
      {book.error && <Failure error={book.error} />}
      <div className="grid grid-cols-2 gap-3">
        <SelectField
          label={t('billing.kind')}
          value={kind}
          onChoose={setKind}
          choices={adjustmentKinds.map((value) => ({ value, label: t(`billing.${value}`) }))}
        />
        <DollarField label={t('accounts.dollars')} value={amount} onType={setAmount} autoFocus required />
      </div>
      <TextField
        label={t('accounts.reason')}
        hint={t('accounts.reasonHint')}
        value={reason}
        maxLength={500}
        onChange={(event) => setReason(event.target.value)}
        required
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>{t('cancel')}</Button>
        <Button
          kind="primary"
          type="submit"
          busy={book.isPending}
          disabled={dollars === undefined || reason.trim() === ''}
        >
          {t('accounts.book')}
        </Button>
      </div>
    </form>
  )
}
