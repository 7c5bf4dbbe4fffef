import { expect, test } from 'bun:test'
import { isBase64, isMediaData } from './media-data.ts'

test.each(['QUJD', 'QUJDRA==', 'QUJ-_A', 'QUJD\r\nQUJD\r\n', 'A'.repeat(200_000)])('base64 is accepted: %#', (text) => {
  expect([isBase64(text), isMediaData(text)]).toEqual([true, true])
})

test.each(['data:application/pdf;base64,QUJD', 'DATA:;base64,QUJD', 'data:text/plain;charset=utf-8,hello there'])(
  'a data URL is data, not base64: %p',
  (text) => expect([isBase64(text), isMediaData(text)]).toEqual([false, true]),
)

test.each([
  '',
  '=',
  ' QUJD',
  'http://10.0.0.1/x',
  ' http://10.0.0.1/x',
  '\thttp://10.0.0.1/x',
  '\u00a0http://10.0.0.1/x',
  '\u0000http://10.0.0.1/x',
  'HTTP://10.0.0.1/x',
  '//10.0.0.1/x',
  'example.com/file.pdf',
  'file:///etc/passwd',
  ' data:application/pdf;base64,QUJD',
  'data:application/pdf;base64, http://10.0.0.1/x',
  'data:application/pdf;base64,',
  `${' '.repeat(200)}http://10.0.0.1/x`,
  `http://10.0.0.1/${'x'.repeat(100_000)}`,
])('a text that might be an address is neither: %p', (text) =>
  expect([isBase64(text), isMediaData(text)]).toEqual([false, false]),
)
