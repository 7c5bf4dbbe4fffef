import { expect, test } from 'bun:test'
import { Passwords } from './password.ts'

const PASSWORD = 'correct horse battery'

test('a password is an argon2id hash with its own salt, and only that password is right', async () => {
  const passwords = new Passwords()
  const [one, other] = [await passwords.hash(PASSWORD), await passwords.hash(PASSWORD)]
  expect(one).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
  expect(one).not.toBe(other)
  expect(await passwords.check(PASSWORD, one)).toBe('right')
  expect(await passwords.check(`${PASSWORD}.`, one)).toBe('wrong')
  expect(await passwords.check(PASSWORD, undefined)).toBe('wrong')
})

test('many sign-ins are bounded: one at a time, some waiting, and the others are refused', async () => {
  const passwords = new Passwords()
  const hash = await passwords.hash(PASSWORD)
  const tried = await Promise.all(Array.from({ length: 40 }, () => passwords.check(PASSWORD, hash)))
  expect(tried.filter((checked) => checked === 'busy').length).toBe(24)
  expect(tried.filter((checked) => checked === 'right').length).toBe(16)
  expect(await passwords.check(PASSWORD, hash)).toBe('right')
})
