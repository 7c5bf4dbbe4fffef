/** Optional parameters of a chat model. Empty fields use the default of the model. */
import { useT, type Key } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Fold } from '../../ui/fold.tsx'
import { exampleTools, type Problems, type Settings } from './settings.ts'

type Props = {
  readonly settings: Settings
  readonly problems: Problems
  readonly onChange: (change: Partial<Settings>) => void
}

const efforts = ['', 'minimal', 'low', 'medium', 'high'] as const
const formats = ['', 'json_object', 'json_schema'] as const
const toolChoices = ['', 'auto', 'required', 'none'] as const

const isMarked = (problems: Problems, names: readonly (keyof Settings)[]): boolean =>
  names.some((name) => problems[name] !== undefined)

export function Parameters({ settings, problems, onChange }: Props) {
  const t = useT()
  const errorOf = (name: keyof Settings): string | undefined => {
    const problem = problems[name]
    return problem && t(problem.key, problem.values)
  }
  const number = (name: 'temperature' | 'topP' | 'maxTokens') => (
    <TextField
      label={t(`play.${name}`)}
      inputMode={name === 'maxTokens' ? 'numeric' : 'decimal'}
      placeholder={t('play.default')}
      value={settings[name]}
      error={errorOf(name)}
      onChange={(event) => onChange({ [name]: event.target.value })}
    />
  )
  const choice = <N extends 'effort' | 'format' | 'toolChoice'>(name: N, values: readonly Settings[N][]) => (
    <SelectField
      label={t(`play.${name}`)}
      value={settings[name]}
      choices={values.map((value) => ({
        value: value as string,
        label: value === '' ? t('play.default') : t(`play.${name}.${value}` as Key),
      }))}
      onChoose={(value) => onChange({ [name]: value })}
    />
  )
  const json = (name: 'tools' | 'schema') => (
    <TextArea
      label={t(`play.${name}`)}
      hint={t(`play.${name}Hint`)}
      rows={7}
      spellCheck={false}
      value={settings[name]}
      error={errorOf(name)}
      onChange={(event) => onChange({ [name]: event.target.value })}
      className="font-mono text-xs"
    />
  )
  return (
    <>
      <TextArea
        label={t('play.system')}
        value={settings.system}
        onChange={(event) => onChange({ system: event.target.value })}
      />
      <Fold title={t('play.parameters')} isMarked={isMarked(problems, ['temperature', 'topP', 'maxTokens', 'schema'])}>
        {number('temperature')}
        {number('topP')}
        {number('maxTokens')}
        {choice('effort', efforts)}
        {choice('format', formats)}
        {settings.format === 'json_schema' && json('schema')}
      </Fold>
      <Fold title={t('play.toolsTitle')} isMarked={isMarked(problems, ['tools'])}>
        {json('tools')}
        {settings.tools.trim() === '' ? (
          <Button onClick={() => onChange({ tools: exampleTools })}>{t('play.toolsExample')}</Button>
        ) : (
          choice('toolChoice', toolChoices)
        )}
      </Fold>
    </>
  )
}
