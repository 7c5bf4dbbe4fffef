/** Where chat is, behind a vendor's base URL. */
export const CHAT_PATH = '/chat/completions'
