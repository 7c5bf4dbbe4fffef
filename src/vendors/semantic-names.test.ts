import { expect, test } from 'bun:test'
import { findPreset } from './presets.ts'
import { presetsWithNames, semanticNameOf } from './semantic-names.ts'

test('the names are those of presets, and others keep their id', () => {
  expect(presetsWithNames.filter((id) => !findPreset(id))).toEqual([])
  expect(['vertex-anthropic', 'mistral', 'openai', 'toString'].map(semanticNameOf)).toEqual([
    'gcp.vertex_ai',
    'mistral_ai',
    'openai',
    'toString',
  ])
})
