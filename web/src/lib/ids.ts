/** The kinds of ids. The prefix of an id names its kind. */
export type IdKind = 'request' | 'key' | 'task' | 'account' | 'program'

/** The id of an answer contains the id of its request. Ids of the first versions are ten characters shorter. */
const requests = /^(?:req_|resp_|chatcmpl-|msg_)((?:[0-9a-z]{10})?[0-9a-z]{26})$/
const others: Readonly<Record<Exclude<IdKind, 'request'>, RegExp>> = {
  key: /^key_(?:[0-9a-z]{10})?[0-9a-z]{26}$/,
  task: /^task_[0-9A-Za-z]{32}$/,
  account: /^acct_(?:[0-9a-z]{10})?[0-9a-z]{26}$/,
  program: /^mkey_(?:[0-9a-z]{10})?[0-9a-z]{26}$/,
}

export function readId(text: string): { readonly kind: IdKind; readonly id: string } | undefined {
  const id = text.trim()
  const request = requests.exec(id)?.[1]
  if (request !== undefined) return { kind: 'request', id: `req_${request}` }
  const kind = (Object.keys(others) as (keyof typeof others)[]).find((one) => others[one].test(id))
  return kind && { kind, id }
}

/** A short form: the start shows the kind, the end tells ids apart. */
export const shortId = (id: string): string => (id.length > 18 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id)
