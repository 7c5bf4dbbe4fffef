/**
 * Detects secrets that are pasted into a search. A secret must not get into a URL, because URLs are kept in the browser
 * history, in logs of proxies, and wherever the address bar is copied to.
 */
export type SecretKind = 'key' | 'management_key' | 'code' | 'link' | 'video' | 'other'

const shapes: readonly (readonly [SecretKind, RegExp])[] = [
  ['key', /sk-tg-\w{8,}/i],
  ['management_key', /mk-tg-\w{8,}/i],
  ['link', /setup_\w{20,}/i],
  ['code', /\btg(?:-[0-9a-z]{5}){4}\b/i],
  // A video id gives access to the video.
  ['video', /\btask_\w{20,}/],
  // The usual prefix of a vendor's key.
  ['other', /\b(?:sk|rk|pk|xai|gsk|hf|nvapi|ghp|r8|AIza|AKIA|eyJ)[-_]?[\w-]{20,}/],
]

/** The gateway's own ids begin with their kind and are not secret. */
const ID = /^[a-z]+_[0-9a-z]{26,36}$/
/** Only secrets have such long random runs. Words, dates and versions in names do not. */
const RANDOM = /[0-9A-Za-z]{24,}/

/** The kind of secret in a text, even if part of it is missing. Undefined: none. */
export function secretIn(text: string): SecretKind | undefined {
  const [known] = shapes.find(([, shape]) => shape.test(text)) ?? []
  if (known !== undefined || ID.test(text.trim())) return known
  const [run = ''] = RANDOM.exec(text) ?? []
  return /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run) ? 'other' : undefined
}
