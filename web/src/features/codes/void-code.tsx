import { useMutation } from '@tanstack/react-query'
import type { Code } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Facts, Failure } from '../../ui/page.tsx'
import { Money, Nothing } from '../../ui/text.tsx'
import { voidCode } from './api.ts'

type Props = { readonly code: Code | undefined; readonly onClose: () => void }

/** Voiding cannot be undone, so it asks for confirmation. The amount and the note identify the code. */
export function VoidCode({ code, onClose }: Props) {
  const t = useT()
  return (
    <Dialog open={code !== undefined} onClose={onClose} title={`${t('codes.void')} ${code?.code}`}>
      {code && <Confirm code={code} onClose={onClose} />}
    </Dialog>
  )
}

function Confirm({ code, onClose }: Props & { readonly code: Code }) {
  const t = useT()
  const cancel = useMutation({ mutationFn: () => voidCode(code.id), onSuccess: onClose })
  return (
    <div className="space-y-3">
      {cancel.error && <Failure error={cancel.error} />}
      <p>{t('codes.voidText')}</p>
      <Facts
        rows={[
          [t('column.amount'), <Money key="amount" amount={code.amount_nano_usd} />],
          [t('codes.note'), code.note || <Nothing key="note" />],
        ]}
      />
      <DialogButtons>
        <Button onClick={onClose} autoFocus>
          {t('cancel')}
        </Button>
        <Button kind="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
          {t('codes.void')}
        </Button>
      </DialogButtons>
    </div>
  )
}
