/** What every request of the Messages format carries. */

/** Newer clients send a later version. Its answers differ only in null fields, and vendors support this one. */
export const VERSION_HEADER = { 'anthropic-version': '2023-06-01' }
export const MESSAGES_PATH = '/messages'
