import type { Provider } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { Checkbox, TextArea, TextField } from '../../ui/field.tsx'
import { Fold } from '../../ui/fold.tsx'
import type { ConnectionDraft, StoredPart } from './connection-draft.ts'

type Props = {
  readonly before: Provider | undefined
  readonly draft: ConnectionDraft
  readonly onChange: (draft: ConnectionDraft) => void
}

/** Proxy, headers, parameters and certificate authorities. All but the proxy are write-only. */
export function ConnectionFields({ before, draft, onChange }: Props) {
  const t = useT()
  const stored: Readonly<Record<StoredPart, string>> = {
    headers: before?.headers.join(', ') ?? '',
    query: before?.query.join(', ') ?? '',
    ca: before?.has_ca ? 'PEM' : '',
  }
  const area = (part: StoredPart, hint: string) => {
    const isRemoved = draft.removed.includes(part)
    return (
      <div key={part} className="space-y-2">
        <TextArea
          label={t(`providers.${part}`)}
          hint={stored[part] === '' ? hint : t('providers.storedPart', { names: stored[part] })}
          value={draft[part]}
          disabled={isRemoved}
          spellCheck={false}
          onChange={(event) => onChange({ ...draft, [part]: event.target.value })}
        />
        {stored[part] !== '' && (
          <Checkbox
            label={t('providers.removePart', { part: t(`providers.${part}`) })}
            checked={isRemoved}
            onChange={(event) => {
              const others = draft.removed.filter((one) => one !== part)
              onChange({ ...draft, [part]: '', removed: event.target.checked ? [...others, part] : others })
            }}
          />
        )}
      </div>
    )
  }
  return (
    <Fold title={t('providers.connection')}>
      <TextField
        label={t('providers.proxy')}
        hint={t('providers.proxyHint')}
        value={draft.proxy}
        onChange={(event) => onChange({ ...draft, proxy: event.target.value })}
      />
      {area('headers', t('providers.headersHint'))}
      {area('query', t('providers.queryHint'))}
      {area('ca', t('providers.caHint'))}
    </Fold>
  )
}
