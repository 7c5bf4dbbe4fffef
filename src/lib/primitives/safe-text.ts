/** Control characters, and those that turn the order of what is read. */
const STEERING = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

/** Text from elsewhere that steers no terminal and no spreadsheet, with its lines and tabs. */
export const safeText = (text: string): string => text.replace(STEERING, '\ufffd')

/** The same of JSON's text, which may say each character by its number: nothing of it is lost. */
export const safeJson = (json: string): string =>
  json.replace(STEERING, (character) => String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, '0'))
