import { useMutation } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import type { RoutedModel } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/page.tsx'
import { removeAlias, setAlias } from './api.ts'

/** The other names of a model. Also a declared model can have stored aliases. */
export function AliasPanel({ model: { id, aliases } }: { readonly model: Pick<RoutedModel, 'id' | 'aliases'> }) {
  const t = useT()
  const [name, setName] = useState('')
  const add = useMutation({ mutationFn: () => setAlias(name.trim(), id), onSuccess: () => setName('') })
  const remove = useMutation({ mutationFn: removeAlias })
  const error = add.error ?? remove.error
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    add.mutate()
  }
  return (
    <section className="space-y-2">
      <h3 className="border-b pb-1 font-semibold">{t('routing.aliases')}</h3>
      {error && <Failure error={error} />}
      <ul>
        {aliases.map((alias) => (
          <li key={alias} className="flex items-center gap-2">
            <span className="min-w-0 break-all">{alias}</span>
            <IconButton
              icon="cross"
              label={t('routing.removeAlias', { name: alias })}
              disabled={remove.isPending}
              onClick={() => remove.mutate(alias)}
            />
          </li>
        ))}
      </ul>
      <form onSubmit={submit} className="flex flex-wrap items-end gap-2">
        <TextField
          label={t('routing.alias')}
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
          required
        />
        <Button type="submit" busy={add.isPending} disabled={name.trim() === ''}>
          {t('routing.addAlias')}
        </Button>
      </form>
    </section>
  )
}
