import type { ComponentProps } from 'react'
import { useT } from '../lib/language.ts'
import { isAmount } from '../lib/money.ts'
import { TextField } from '../ui/field.tsx'

type Props = Omit<ComponentProps<typeof TextField>, 'value' | 'onChange' | 'error' | 'inputMode'> & {
  readonly value: string
  readonly onType: (text: string) => void
}

/** A field for an amount. It shows an error for invalid text. The form has to check the value, too. */
export function DollarField({ value, onType, ...rest }: Props) {
  const t = useT()
  return (
    <TextField
      {...rest}
      inputMode="decimal"
      value={value}
      error={isAmount(value) ? undefined : t(rest.required ? 'money.bad' : 'limit.badAmount')}
      onChange={(event) => onType(event.target.value)}
    />
  )
}
