/** Why operations refuse, in sentences that have a reason and facts. */
import { speakerOf } from '../lib/primitives/localized-message.ts'
import { UNSENDABLE_KEY } from '../vendors/presets.ts'

/** What there can be none of. */
export const things = [
  'account',
  'code',
  'entry',
  'key',
  'management key',
  'model',
  'operation',
  'orphan',
  'provider',
  'request',
  'session',
  'task',
  'user',
  'view',
] as const
export type ResourceName = (typeof things)[number]

export const operationRefusals = {
  none_named: "there is no {what} '{name}'",
  no_key: "there is no key '{name}' (a key is named by its id, see key list)",
  no_request_of_account: "there is no request '{name}' of this account",
  request_running: "the request '{name}' is under way, with ${amount} held; its record is made when it ends",
  request_lost:
    "the server ended in the middle of the request '{name}': nothing was charged, and the ${amount} it held were given back",
  declared: "the {what} '{name}' is declared in tollgate.yaml or the environment; change it there",

  account_taken: "an account '{name}' exists already",
  ref_booked: "the reference '{ref}' is booked already",
  balance_short: 'the account has less than ${amount} available',
  balance_full: 'the balance would exceed the most an account can hold, four billion dollars',

  user_taken: "a user '{name}' exists already",
  user_account: 'account: everybody but an operator belongs to one account',
  user_disabled: "the user '{name}' is disabled",
  operator_role: 'an operator belongs to no account, and stays an operator',
  last_operator: 'this is the last operator that can sign in',

  code_expiry_past: 'expires_at is past',
  code_ended: 'this code is redeemed or void already',
  code_unknown: 'there is no code that can be redeemed',

  url_needed: "the preset '{preset}' needs a base_url",
  url_bad: 'the base URL {why}',
  url_private:
    'the base URL is at a private address ({place}): add --allow-private (allow_private) if the gateway may call there',
  url_other_origin: 'the base URL points to another origin: give the key again',
  key_unsendable: UNSENDABLE_KEY,
  price_needed: 'price: a model for {kind}s needs one',
  unit_needed: '{unit}: needed in the price of a model of the kind {kind}',
  sold_by_tokens: 'each: what such a model makes is sold by tokens',
  no_upscaler: "video.upscaler: there is no provider '{name}'",
  no_model: "models: there is no model '{name}'",
  sandbox_absent: 'the built-in sandbox runs only with the server',
  import_stale: 'the catalogue has changed since this was shown; look at the import again',
} as const

export const sayRefusal = speakerOf(operationRefusals)
