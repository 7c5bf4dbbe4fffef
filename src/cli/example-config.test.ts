import { expect, test } from 'bun:test'
import { readDeclaration } from '../declaration.ts'
import { exampleConfig } from './example-config.ts'

test('the unchanged example is a valid declaration', () => {
  expect(readDeclaration(exampleConfig, 'tollgate.yaml', {})).toMatchObject({ sandbox: undefined, models: [] })
})

test('the example is a valid declaration with every setting uncommented', () => {
  const uncommented = exampleConfig.replaceAll(/^# /gm, '')
  const { providers, models, accounts } = readDeclaration(uncommented, 'tollgate.yaml', { OPENAI_API_KEY: 'sk-x' })
  expect(providers.map(({ id, secret }) => [id, secret])).toEqual([
    ['openai', 'sk-x'],
    ['local', undefined],
  ])
  expect(models[0]?.offers).toHaveLength(2)
  expect(accounts).toMatchObject([{ name: 'team', openingBalance: 25_000_000_000n }])
})
