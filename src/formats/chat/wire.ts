/** The path of chat after a vendor's base URL. */
export const CHAT_PATH = '/chat/completions'
