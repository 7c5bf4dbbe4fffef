/** The models that may be used: all, or a selection. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FoundQuery } from '../lib/choices.ts'
import { useT } from '../lib/language.ts'
import { secretIn } from '../lib/secrets.ts'
import { useSettled } from '../lib/settled.ts'
import { useShow } from '../lib/show.ts'
import { Checkbox, Segments } from '../ui/field.tsx'

type Props = {
  /** The models that match a text. */
  readonly query: (q: string) => FoundQuery
  /** Null: all models. */
  readonly chosen: readonly string[] | null
  readonly onChange: (chosen: readonly string[] | null) => void
}

export function ModelChoice({ query, chosen, onChange }: Props) {
  const t = useT()
  const [wanted, setWanted] = useState('')
  // Selected models come first, even if they no longer exist. The order does not change while the user selects.
  const [before] = useState(chosen ?? [])
  const show = useShow()
  const settled = useSettled(secretIn(wanted) === undefined ? wanted.trim() : '')
  const { data } = useQuery({ ...query(settled), enabled: chosen !== null })
  const own = [...new Set([...before, ...(chosen ?? [])])].filter((id) =>
    id.toLowerCase().includes(wanted.toLowerCase()),
  )
  const found = data?.choices.map(({ value }) => value) ?? []
  const shown = [...new Set([...own.filter((id) => before.includes(id)), ...found, ...own])]
  const total = data?.total ?? 0
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium">{t('modelChoice.title')}</legend>
      <Segments
        name={t('modelChoice.title')}
        value={chosen === null ? 'all' : 'some'}
        choices={[
          { value: 'all', label: t('modelChoice.all') },
          { value: 'some', label: t('modelChoice.some') },
        ]}
        onChoose={(value) => onChange(value === 'all' ? null : (chosen ?? []))}
      />
      {chosen !== null && (
        <div className="mt-2 rounded-md border p-2">
          {(wanted !== '' || shown.length > 8) && (
            <input
              className="field mb-2"
              aria-label={t('modelChoice.filter')}
              placeholder={t('modelChoice.filter')}
              value={wanted}
              onChange={(event) => setWanted(event.target.value)}
            />
          )}
          <div className="grid max-h-48 gap-x-4 overflow-y-auto sm:grid-cols-2">
            {shown.map((id) => (
              <Checkbox
                key={id}
                label={id}
                checked={chosen.includes(id)}
                onChange={(event) =>
                  onChange(event.target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
                }
              />
            ))}
          </div>
          {total > found.length && (
            <p role="status" className="mt-1 text-xs text-soft">
              {t('picker.more', { last: show.number(found.length), all: show.number(total) })}
            </p>
          )}
          {chosen.length === 0 && <p className="mt-1 text-xs text-bad">{t('modelChoice.atLeastOne')}</p>}
        </div>
      )}
    </fieldset>
  )
}
