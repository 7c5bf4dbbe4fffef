/** Why the console's API refuses, where no operation is in it, in sentences that have a reason and facts. */
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

  not_plain_json: 'Send the body as JSON, plain, with Content-Type: application/json.',
  body_too_large: 'The body is too large: a mebibyte is taken, and 8 KiB of whoever is not signed in.',
  body_late: 'The body did not arrive in time.',
  body_broken_off: 'The body broke off.',
  body_not_utf8: 'The body is not valid UTF-8.',
  body_not_json: 'The body is not JSON that can be read.',
  body_proto: "A field is called '__proto__', which none may be.",
  bodies_full: 'Too many bodies are arriving at once.',

  too_many_changes: 'Too many changes. Wait a little.',
  too_many_tries: 'Too many tries. Wait a little.',
  sign_in_busy: 'Too many people sign in at once. Try again.',
  wrong_password: 'The name or the password is not right.',
  wrong_current_password: 'The current password is not right.',
  link_void: 'This link is used, too old, or not one of ours. Ask for another.',
  name_needed: 'name: choose a name that nobody has.',
  own_role: 'One cannot change one’s own role or status: another has to.',

  code_void: 'This code is used, void, too old, or not one of ours.',
  month_to_come: 'This month is still to come.',
  account_declared: 'The models and limits of this account are declared in tollgate.yaml; change them there.',
  account_suspended: 'This account is suspended.',
  key_revoked: 'This key is revoked; nothing of it can be changed.',
  provider_taken: "A provider '{name}' exists already.",
  view_taken: 'name: a view of yours has this name.',
  views_full: 'You have {max} views: remove one first.',

  range_backwards: 'from: must be before to.',
  range_too_long: 'from: at most {days} days by the {step}.',
  rows_too_many: 'More than {max} rows: ask for a shorter time, or group by less.',
  watching_enough: 'You watch from {max} places already: close one of them.',
  account_watching_enough: 'The people of this account watch from {max} places already: close one of them.',
  watching_full: 'Too many people watch requests at once. Lists work as ever.',
} as const

export const sayConsoleRefusal = speakerOf(consoleRefusals)
