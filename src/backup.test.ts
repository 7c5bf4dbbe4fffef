import { expect, test } from 'bun:test'
import { backupErrorText } from './backup.ts'

test.each(['EROFS', 'EACCES', 'EPERM'])('%s: who asks for a backup hears where the server may write', (code) => {
  const error = Object.assign(new Error('open failed'), { code })
  const reason = `the server may not write to /vault (${code}); under systemd, name that folder in ReadWritePaths=`
  expect(backupErrorText(error, '/vault')).toBe(reason)
})

test('anything else is told in its own words', () => {
  expect(backupErrorText(new Error('disk full'), '/vault')).toBe('disk full')
  expect(backupErrorText('odd', '/vault')).toBe('odd')
})
