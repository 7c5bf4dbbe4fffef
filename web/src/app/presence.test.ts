import { expect, test } from 'bun:test'
import { focusManager } from '@tanstack/react-query'
import { watchPresence } from './presence.ts'

test('without a sign of anybody nothing is asked, and with the first one all goes on', async () => {
  const page = new EventTarget()
  watchPresence(page, 50)
  expect(focusManager.isFocused()).toBe(true)
  for (let i = 0; i < 10 && focusManager.isFocused(); i++) await Bun.sleep(50)
  expect(focusManager.isFocused()).toBe(false)
  page.dispatchEvent(new Event('keydown'))
  expect(focusManager.isFocused()).toBe(true)
})
