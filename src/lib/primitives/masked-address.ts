/** Removes secrets from addresses before they are kept. */

const SECRET = '[secret]'

/**
 * Masks the user and password and the values of the query of an address. Other texts stay unchanged. A text that only
 * looks like an address, for example because of a slash in the password, loses everything before its last `@`.
 */
export function maskedAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url) return withoutQuery(text.replace(/\S+/g, withoutUser))
  const { protocol, username, password, host, pathname, search, hash } = url
  // Without a host, the text is a sentence with a colon.
  if (host === '' || `${username}${password}${search}${hash}` === '') return text
  const user = username === '' && password === '' ? '' : `${SECRET}@`
  return withoutQuery(`${protocol}//${user}${host}${pathname}${search}${hash === '' ? '' : `#${SECRET}`}`)
}

/**
 * Works on one word without an expression: a search for the last `@` from each `//` takes minutes on 1 MB of slashes.
 */
function withoutUser(word: string): string {
  const [start, end] = [word.indexOf('//'), word.lastIndexOf('@')]
  return start < 0 || end < start + 2 ? word : `${word.slice(0, start)}//${SECRET}${word.slice(end)}`
}

/** Masks only a text that is one word with `://`. A question mark in a sentence begins no query. */
const withoutQuery = (text: string): string =>
  text.includes('://') && !/\s/.test(text)
    ? text.replace(/\?[^#]*/, (query) => query.replace(/([?&](?:[^=&]*=)?)[^&]+/g, `$1${SECRET}`))
    : text
