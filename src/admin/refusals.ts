/** The refusals of operations: sentences with a reason and facts. */
import { speakerOf } from '../lib/primitives/localized-message.ts'
import { UNSENDABLE_KEY } from '../vendors/presets.ts'

/** The things that a refusal can say do not exist. */
export const things = [
  'account',
  'alias',
  'code',
  'entry',
  'key',
  'management key',
  'model',
  'operation',
  'orphan',
  'price',
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
  request_running: "the request '{name}' is running, with ${amount} held; its record is written when it ends",
  request_lost:
    "the server stopped during the request '{name}': nothing was charged, and the ${amount} that it held was released",
  declared: "the {what} '{name}' is declared in tollgate.yaml or the environment; change it there",

  alias_is_model: "there is a model '{name}', so no alias can have this name",
  alias_of_alias: "'{name}' is an alias itself; name the model",
  model_is_alias: "there is an alias '{name}', so no model can have this id; remove the alias first",

  account_taken: "an account '{name}' exists already",
  ref_booked: "the reference '{ref}' is booked already",
  balance_short: 'the account has less than ${amount} available',
  balance_full: 'the balance would exceed the maximum of an account, four billion dollars',

  user_taken: "a user '{name}' exists already",
  user_account: 'account: everyone except an operator belongs to one account',
  user_disabled: "the user '{name}' is disabled",
  operator_role: 'an operator belongs to no account, and stays an operator',
  last_operator: 'this is the last operator that can sign in',

  code_expiry_past: 'expires_at is in the past',
  code_ended: 'this code is already redeemed or void',
  code_unknown: 'no such code can be redeemed',

  url_needed: "the preset '{preset}' needs a base_url",
  url_bad: 'the base URL {why}',
  url_private:
    'the base URL is at a private address ({place}): add --allow-private (allow_private) if the gateway may call there',
  url_other_origin:
    'the base URL points to another origin, or others can read what is sent there: give the key, headers and query again',
  option_bad: '{field} {why}',
  key_unsendable: UNSENDABLE_KEY,
  provider_has_key: 'the provider has this key already',
  provider_keys_full: 'the provider has {max} keys already; remove one first',
  price_needed: 'price: a model for {kind}s needs a price',
  unit_needed: '{unit}: a model of the kind {kind} needs this price',
  factor_or_price: 'name either a factor or prices',
  card_needs_model: 'model: prices of their own are for one model; for all models name a factor',
  sold_by_tokens: 'each: such a model is sold by tokens',
  no_upscaler: "video.upscaler: there is no provider '{name}'",
  no_model: "models: there is no model '{name}'",
  sandbox_absent: 'the built-in sandbox runs only with the server',
  list_unusable: 'the price list cannot be used: {why}',
  import_stale: 'the catalogue has changed since this was shown; look at the import again',
} as const

export const sayRefusal = speakerOf(operationRefusals)
