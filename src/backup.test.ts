import { expect, test } from 'bun:test'
import { backupErrorText } from './backup.ts'

test.each(['EROFS', 'EACCES', 'EPERM'])('%s: the message says where the server may write', (code) => {
  const error = Object.assign(new Error('open failed'), { code })
  const reason = `the server may not write to /vault (${code}); under systemd, name that folder in ReadWritePaths=`
  expect(backupErrorText(error, '/vault')).toBe(reason)
})

test('any other error keeps its own message', () => {
  expect(backupErrorText(new Error('disk full'), '/vault')).toBe('disk full')
  expect(backupErrorText('odd', '/vault')).toBe('odd')
})
