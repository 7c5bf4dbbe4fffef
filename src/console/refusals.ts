/** The refusals of the console's API that no operation makes: sentences with a reason and facts. */
import { speakerOf } from '../lib/primitives/localized-message.ts'

export const consoleRefusals = {
  cross_site: 'This request comes from another site.',
  not_signed_in: 'Sign in, or send a management key as Authorization: Bearer.',
  models_hidden: 'Sign in to see the models.',
  not_allowed: 'You may not do this.',
  no_such: 'There is no such {what}.',
  no_route: 'There is no {method} {path}.',
  method_not_allowed: '{method} is not allowed here.',
  internal_error: 'Internal error. The request id helps the operator to find it.',

  not_plain_json: 'Send the body as uncompressed JSON with Content-Type: application/json.',
  body_too_large: 'The body is too large. The limit is 1 MiB, or 8 KiB without a sign-in.',
  body_late: 'The body did not arrive in time.',
  body_broken_off: 'The body broke off.',
  body_not_utf8: 'The body is not valid UTF-8.',
  body_not_json: 'The body is not valid JSON.',
  body_proto: "The field name '__proto__' is not allowed.",
  bodies_full: 'Too many bodies are arriving at once.',

  too_many_changes: 'Too many changes. Try again later.',
  too_many_tries: 'Too many tries. Try again later.',
  sign_in_busy: 'Too many people are signing in at once. Try again.',
  wrong_password: 'The name or the password is wrong.',
  wrong_current_password: 'The current password is wrong.',
  link_void: 'This link is used, expired or unknown. Ask for another.',
  name_needed: 'name: choose a name that is not taken.',
  own_role: 'You cannot change your own role or status. Somebody else must do it.',

  code_void: 'This code is used, void, expired or unknown.',
  month_to_come: 'This month is in the future.',
  account_declared: 'The models and limits of this account are declared in tollgate.yaml; change them there.',
  account_suspended: 'This account is suspended.',
  key_revoked: 'This key is revoked and cannot be changed.',
  provider_taken: "A provider '{name}' exists already.",
  view_taken: 'name: you already have a view with this name.',
  views_full: 'You have {max} views: remove one first.',

  range_backwards: 'from: must be before to.',
  range_too_long: 'from: the range can be at most {days} days by {step}.',
  rows_too_many: 'More than {max} rows. Choose a shorter time, or group by less.',
  watching_enough: 'You already have {max} live lists open. Close one of them.',
  account_watching_enough: 'The people of this account already have {max} live lists open. Close one of them.',
  watching_full: 'Too many people are watching requests live. Lists still work.',
} as const

export const sayConsoleRefusal = speakerOf(consoleRefusals)
