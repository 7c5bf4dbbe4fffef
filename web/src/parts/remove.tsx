import { useState } from 'react'
import { useT } from '../lib/i18n/language.ts'
import { Button } from '../ui/button.tsx'

type Props = {
  /** What goes with it. */
  readonly what: string
  readonly isBusy: boolean
  readonly onRemove: () => void
}

/** Asked twice, at the same place. */
export function Remove({ what, isBusy, onRemove }: Props) {
  const t = useT()
  const [isSure, setSure] = useState(false)
  return (
    <div className="border-t pt-4">
      {isSure ? (
        <div className="flex flex-wrap items-center gap-2">
          <span>{what}</span>
          <span className="flex gap-2">
            <Button kind="danger" busy={isBusy} onClick={onRemove}>
              {t('remove')}
            </Button>
            <Button onClick={() => setSure(false)}>{t('cancel')}</Button>
          </span>
        </div>
      ) : (
        <Button kind="danger" onClick={() => setSure(true)}>
          {t('remove')}
        </Button>
      )}
    </div>
  )
}
