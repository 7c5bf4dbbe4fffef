import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { useT } from '../../lib/language.ts'
import { exact, money } from '../../lib/money.ts'
import { sessionQuery } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failure, Note } from '../../ui/page.tsx'
import { redeem } from './api.ts'

type Props = { readonly account: string; readonly open: boolean; readonly onClose: () => void }

export function RedeemCode({ account, open, onClose }: Props) {
  const t = useT()
  return (
    <Dialog open={open} onClose={onClose} title={t('billing.redeem')} description={t('billing.redeemHint')}>
      {open && <Redeem account={account} onClose={onClose} />}
    </Dialog>
  )
}

function Redeem({ account, onClose }: Omit<Props, 'open'>) {
  const t = useT()
  const [code, setCode] = useState('')
  const client = useQueryClient()
  const redeeming = useMutation({
    mutationFn: () => redeem(account, code.trim()),
    // The low-balance warning reads the data of the session.
    onSuccess: () => client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    redeeming.mutate()
  }
  if (redeeming.data) {
    return (
      <>
        <Note kind="good">
          {t('billing.redeemed', {
            amount: exact(redeeming.data.amount_nano_usd),
            balance: money(redeeming.data.balance.available_nano_usd),
          })}
        </Note>
        <DialogButtons>
          <Button kind="primary" onClick={onClose}>
            {t('close')}
          </Button>
        </DialogButtons>
      </>
    )
  }
  return (
    <form onSubmit={submit}>
      <TextField
        label={t('billing.code')}
        value={code}
        onChange={(event) => setCode(event.target.value)}
        autoComplete="off"
        spellCheck={false}
        className="font-mono"
        autoFocus
        required
      />
      {redeeming.error && (
        <div className="mt-3">
          <Failure error={redeeming.error} />
        </div>
      )}
      <DialogButtons>
        <Button onClick={onClose}>{t('cancel')}</Button>
        <Button kind="primary" type="submit" busy={redeeming.isPending} disabled={code.trim() === ''}>
          {t('billing.redeemIt')}
        </Button>
      </DialogButtons>
    </form>
  )
}
