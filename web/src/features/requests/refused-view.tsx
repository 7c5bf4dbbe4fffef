import type { RefusedRequest } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { useShow } from '../../lib/show.ts'
import { Facts, Note } from '../../ui/page.tsx'
import { Id, Nothing, Status, Time } from '../../ui/text.tsx'
import { endpointOf } from './refused.ts'

/** A refused request. `asked` is the requested id, which may be that of a similar request. */
export function RefusedView({ asked, refusal }: { readonly asked: string; readonly refusal: RefusedRequest }) {
  const t = useT()
  const show = useShow()
  const { id, status, code, model, key, repeats } = refusal
  return (
    <div className="space-y-4">
      <Note>{t('refused.note')}</Note>
      {asked !== id && <Note>{t('refused.oneOf')}</Note>}
      <Facts
        rows={[
          [
            t('column.status'),
            <Status key="status" tone="bad">
              {status} {code}
            </Status>,
          ],
          [t('column.time'), <Time key="time" at={refusal.created_at} />],
          [t('column.endpoint'), endpointOf(refusal)],
          [t('column.model'), model ?? <Nothing key="model" />],
          [t('column.key'), key === null ? <Nothing key="key" /> : <Id key="key" id={key} />],
          [t('refused.repeats'), repeats === 0 ? <Nothing key="repeats" /> : show.number(repeats)],
          [t('refused.id'), <Id key="id" id={id} isShort={false} />],
        ]}
      />
    </div>
  )
}
