import { useMutation } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { useT } from '../../lib/language.ts'
import { nanoOf, typedDollars } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { endOfDay } from '../../lib/time.ts'
import { DollarField } from '../../parts/dollar-field.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/page.tsx'
import { CodeBlock } from '../../ui/text.tsx'
import { makeCodes, type Batch } from './api.ts'

type Props = { readonly open: boolean; readonly onClose: () => void }

export function MakeCodes({ open, onClose }: Props) {
  const t = useT()
  const [made, setMade] = useState<Batch>()
  const close = (): void => {
    setMade(undefined)
    onClose()
  }
  return (
    <Dialog
      open={open}
      onClose={close}
      title={t('codes.make')}
      description={made ? t('codes.once') : t('codes.makeHint')}
    >
      {made ? <MadePicture batch={made} onClose={close} /> : <Form onMade={setMade} onCancel={close} />}
    </Dialog>
  )
}

function Form({ onMade, onCancel }: { readonly onMade: (batch: Batch) => void; readonly onCancel: () => void }) {
  const t = useT()
  const [count, setCount] = useState('1')
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  const [expires, setExpires] = useState('')
  const { zone } = useShow()
  const dollars = typedDollars(amount)
  const make = useMutation({
    mutationFn: () =>
      makeCodes({
        count: Number(count),
        amount_nano_usd: nanoOf(dollars ?? '0').toString(),
        ...(note.trim() === '' ? {} : { note: note.trim() }),
        ...(expires === '' ? {} : { expires_at: endOfDay(expires, zone) }),
      }),
    onSuccess: onMade,
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (dollars !== undefined) make.mutate()
  }
  return (
    <form onSubmit={submit} className="space-y-3">
      {make.error && <Failure error={make.error} />}
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label={t('codes.count')}
          type="number"
          min={1}
          max={1000}
          value={count}
          onChange={(event) => setCount(event.target.value)}
          required
        />
        <DollarField label={t('codes.amount')} value={amount} onType={setAmount} autoFocus required />
      </div>
      <TextField
        label={t('codes.note')}
        hint={t('codes.noteHint')}
        maxLength={200}
        value={note}
        onChange={(event) => setNote(event.target.value)}
      />
      <TextField
        label={t('codes.expires')}
        hint={t('codes.expiresHint', { zone: t(zone === 'utc' ? 'usage.utc' : 'usage.local') })}
        type="date"
        value={expires}
        onChange={(event) => setExpires(event.target.value)}
      />
      <DialogButtons>
        <Button onClick={onCancel}>{t('cancel')}</Button>
        <Button kind="primary" type="submit" busy={make.isPending} disabled={dollars === undefined}>
          {t('codes.make')}
        </Button>
      </DialogButtons>
    </form>
  )
}

function MadePicture({ batch, onClose }: { readonly batch: Batch; readonly onClose: () => void }) {
  const t = useT()
  const text = batch.codes.map(({ code }) => code).join('\n')
  return (
    <div className="space-y-3">
      <CodeBlock label={t('nav.codes')} text={text} isList />
      <DialogButtons>
        <a
          href={`data:text/plain,${encodeURIComponent(text)}`}
          download={`codes-${batch.id}.txt`}
          className={buttonClass()}
        >
          {t('task.download')}
        </a>
        <Button kind="primary" onClick={onClose}>
          {t('keys.done')}
        </Button>
      </DialogButtons>
    </div>
  )
}
