/** The form of the pages before the sign-in: name, passwords and one button. */
import type { ComponentProps, ReactNode } from 'react'
import { useT } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/page.tsx'
import type { Sending } from './use-form.ts'

type Props = {
  readonly form: Sending
  readonly submit: string
  readonly disabled?: boolean
  /** The `param` of the field that shows the error. Without one, the error is above the form. */
  readonly beside?: string
  readonly children: ReactNode
  readonly below?: ReactNode
}

export function SignInForm({
  form: { isBusy, error, submit: send },
  submit,
  disabled,
  beside,
  children,
  below,
}: Props) {
  return (
    <form onSubmit={send} className="space-y-3">
      {error && (beside === undefined || error.param !== beside) && <Failure error={error} />}
      {children}
      <Button kind="primary" type="submit" busy={isBusy} disabled={disabled} className="w-full">
        {submit}
      </Button>
      {below}
    </form>
  )
}

type FieldProps = Omit<ComponentProps<typeof TextField>, 'onChange'> & { readonly onType: (text: string) => void }

const TypedProvider = ({ onType, ...rest }: FieldProps) => (
  <TextField {...rest} onChange={(event) => onType(event.target.value)} required />
)

export function NameField(props: Omit<FieldProps, 'label'>) {
  const t = useT()
  return <TypedProvider {...props} label={t('signIn.name')} autoComplete="username" autoCapitalize="none" />
}

export const PasswordField = (props: FieldProps) => <TypedProvider {...props} type="password" />
