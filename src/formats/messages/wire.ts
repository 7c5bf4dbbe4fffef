/** What every request of the Messages format carries. */

/** Newer clients send a later version, whose answers differ in fields that are null; vendors keep to this one. */
export const VERSION_HEADER = { 'anthropic-version': '2023-06-01' }
export const MESSAGES_PATH = '/messages'
