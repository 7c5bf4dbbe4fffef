import { useT } from '../lib/language.ts'
import type { Rows } from '../lib/lists.ts'
import { useShow } from '../lib/show.ts'
import { Button } from '../ui/button.tsx'

/** The end of a list: the number of loaded rows, the total, and the button for more. */
export function ListFoot({ list: { rows, total, more, isReading } }: { readonly list: Rows<unknown> }) {
  const t = useT()
  const show = useShow()
  const shown = rows?.length ?? 0
  if (shown === 0) return null
  const [last, all] = [show.number(shown), total === null ? '' : show.number(total)]
  return (
    <div className="mt-3 flex flex-wrap items-center gap-3">
      {more && (
        <Button busy={isReading} onClick={more}>
          {t('more')}
        </Button>
      )}
      <p role="status" className="text-soft">
        {total === null ? t('list.ofMany', { last }) : t('list.of', { last, all })}
      </p>
    </div>
  )
}
