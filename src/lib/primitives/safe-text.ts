/** Control characters, and characters that change the order of the text. */
const STEERING = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

/** Makes untrusted text safe for terminals and spreadsheets. Line ends and tabs stay. */
export const safeText = (text: string): string => text.replace(STEERING, '\ufffd')

/** The same for JSON text. JSON can escape each character, so nothing is lost. */
export const safeJson = (json: string): string =>
  json.replace(STEERING, (character) => String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, '0'))
