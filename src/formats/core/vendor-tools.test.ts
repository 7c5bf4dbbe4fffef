import { expect, test } from 'bun:test'
import { requestScanLimits, scanJson } from '../../lib/json/json-scan.ts'
import { editJson } from '../../lib/json/json-edit.ts'
import { splitMessagesTools } from '../messages/vendor-tools.ts'
import { namesOf, withoutVendorTools } from './vendor-tools.ts'

test('the remaining tools leave unchanged, with all digits', () => {
  const own = '{"name":"f","input_schema":{"type":"object","maximum":9007199254740993,"multipleOf":1.0}}'
  const text = `{"tools": [{"type":"web_search_20250305"}, ${own}], "max_tokens": 1e3}`
  const scan = scanJson(text, requestScanLimits)
  if (scan.kind !== 'scanned') throw new Error(scan.kind)
  const edits = withoutVendorTools({ text, members: scan.members }, 'tools', splitMessagesTools)
  expect(editJson(text, scan.members, edits)).toBe(`{"tools": [${own}], "max_tokens": 1e3}`)
})

test('a tool that is offered twice is named once', () => {
  const search = { type: 'web_search_20250305' }
  expect(namesOf(splitMessagesTools([search, search, { name: 'f' }]))).toEqual(['tools.web_search_20250305'])
})
