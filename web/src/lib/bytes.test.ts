import { expect, test } from 'bun:test'
import { bytes } from './bytes.ts'

test.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_024, '1 KiB'],
  [1_048_550, '1 MiB'],
  [33_554_432, '32 MiB'],
  [1_610_612_736, '1.5 GiB'],
  [2 ** 50, '1024 TiB'],
])('%d bytes are %s', (size, text) => {
  expect(bytes(size)).toBe(text)
})
