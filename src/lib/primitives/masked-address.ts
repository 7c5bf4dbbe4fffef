/** Addresses as they may be kept: without what opens anything. */

const SECRET = '[secret]'

/**
 * Masks the user and password, and the values of the query, of a text that is an address; other texts stay as they are.
 * One that only looks like an address loses all before its last `@`: a slash in a password makes it one of those.
 */
export function maskedAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url) return withoutQuery(text.replace(/\S+/g, withoutUser))
  const { protocol, username, password, host, pathname, search, hash } = url
  // Without a host it is a sentence with a colon.
  if (host === '' || `${username}${password}${search}${hash}` === '') return text
  const user = username === '' && password === '' ? '' : `${SECRET}@`
  return withoutQuery(`${protocol}//${user}${host}${pathname}${search}${hash === '' ? '' : `#${SECRET}`}`)
}

/** Of a word: an expression that looks for the last `@` from each `//` takes minutes for a megabyte of slashes. */
function withoutUser(word: string): string {
  const [start, end] = [word.indexOf('//'), word.lastIndexOf('@')]
  return start < 0 || end < start + 2 ? word : `${word.slice(0, start)}//${SECRET}${word.slice(end)}`
}

/** Of a text that is one word with `://` in it: a sentence may ask questions. */
const withoutQuery = (text: string): string =>
  text.includes('://') && !/\s/.test(text)
    ? text.replace(/\?[^#]*/, (query) => query.replace(/([?&](?:[^=&]*=)?)[^&]+/g, `$1${SECRET}`))
    : text
