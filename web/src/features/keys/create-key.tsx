/** The way from a name to a first answer: the form, the key shown once, and a test request. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useT } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { Note } from '../../ui/page.tsx'
import { createKey } from './api.ts'
import { KeyForm } from './key-form.tsx'
import { Reveal } from './reveal.tsx'

type Props = { readonly account: string; readonly open: boolean; readonly onClose: () => void }

export function CreateKey({ account, open, onClose }: Props) {
  const t = useT()
  const [isTaken, setTaken] = useState(false)
  const [isLeaving, setLeaving] = useState(false)
  const create = useMutation({ mutationFn: (draft: Parameters<typeof createKey>[1]) => createKey(account, draft) })
  const made = create.data
  /** The secret is kept nowhere after this: neither in the page nor in the cache. */
  const close = (): void => {
    create.reset()
    setTaken(false)
    setLeaving(false)
    onClose()
  }
  const leave = (): void => (made && !isTaken && !isLeaving ? setLeaving(true) : close())
  return (
    <Dialog open={open} onClose={leave} wide title={made ? t('keys.made', { name: made.name }) : t('keys.create')}>
      {made ? (
        <>
          <Reveal account={account} made={made} onTaken={() => setTaken(true)} />
          {isLeaving && (
            <div className="mt-4">
              <Note kind="warn">{t('keys.notCopied')}</Note>
            </div>
          )}
          <DialogButtons>
            <Button kind={isTaken ? 'primary' : 'plain'} onClick={leave}>
              {isLeaving ? t('keys.closeAnyway') : t('keys.done')}
            </Button>
          </DialogButtons>
        </>
      ) : (
        <KeyForm
          account={account}
          submit={t('keys.create')}
          isBusy={create.isPending}
          error={create.error}
          onSubmit={(draft) => create.mutate(draft)}
          onCancel={close}
        />
      )}
    </Dialog>
  )
}
