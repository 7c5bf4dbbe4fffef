import { expect, test } from 'bun:test'
import type { Provider } from '../../lib/api-types.gen.ts'
import { connectionChanges, draftOfConnection } from './connection-draft.ts'

const before = { proxy: 'http://proxy.example:3128' } as Provider

test('what is not typed is not sent', () => {
  expect(connectionChanges(draftOfConnection(undefined), undefined)).toEqual({})
  expect(connectionChanges(draftOfConnection(before), before)).toEqual({})
})

test('lines become headers and parameters, and a value keeps its separators', () => {
  const draft = {
    ...draftOfConnection(before),
    headers: 'OpenAI-Organization: org-1\n\n  x-a:b:c ',
    query: 'api-version=2024-10-21\nfilter=a=b',
    ca: ' pem ',
  }
  expect(connectionChanges(draft, before)).toEqual({
    headers: { 'OpenAI-Organization': 'org-1', 'x-a': 'b:c' },
    query: { 'api-version': '2024-10-21', filter: 'a=b' },
    ca: 'pem\n',
  })
})

test('an emptied proxy is that of the environment, and what is removed is null', () => {
  const draft = { ...draftOfConnection(before), proxy: ' ', removed: ['headers', 'ca'] as const }
  expect(connectionChanges(draft, before)).toEqual({ proxy: null, headers: null, ca: null })
})
