/**
 * Secrets that somebody pastes where names are looked for. They must get into no address: it is kept in the browser's
 * history, in the logs of proxies, and in whatever is copied from the address bar.
 */
export type SecretKind = 'key' | 'management_key' | 'code' | 'link' | 'video' | 'other'

const shapes: readonly (readonly [SecretKind, RegExp])[] = [
  ['key', /sk-tg-\w{8,}/i],
  ['management_key', /mk-tg-\w{8,}/i],
  ['link', /setup_\w{20,}/i],
  ['code', /\btg(?:-[0-9a-z]{5}){4}\b/i],
  // Whoever has the id of a video can fetch it.
  ['video', /\btask_\w{20,}/],
  // A vendor's, as most of them begin.
  ['other', /\b(?:sk|rk|pk|xai|gsk|hf|nvapi|ghp|r8|AIza|AKIA|eyJ)[-_]?[\w-]{20,}/],
]

/** Ids of ours begin with what they are of, and are nothing to hide. */
const ID = /^[a-z]+_[0-9a-z]{26,36}$/
/** As random as only secrets are: words, dates and versions in names have no run like it. */
const RANDOM = /[0-9A-Za-z]{24,}/

/** What kind of secret a text has in it, or most of one; undefined: none. */
export function secretIn(text: string): SecretKind | undefined {
  const [known] = shapes.find(([, shape]) => shape.test(text)) ?? []
  if (known !== undefined || ID.test(text.trim())) return known
  const [run = ''] = RANDOM.exec(text) ?? []
  return /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run) ? 'other' : undefined
}
