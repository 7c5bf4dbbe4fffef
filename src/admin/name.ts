/** Names of accounts, keys, people, programs and views: they stand in lists, logs and files beside each other's. */
import { z } from 'zod'

/** Nothing that is not seen, and nothing that turns the text around it: a name must not read as another. */
export const visibleName = z
  .string()
  .trim()
  .regex(
    /^[^/\p{Cc}\p{Cs}\p{Bidi_C}]{1,100}$/u,
    'must be 1 to 100 characters, none a slash, a control character or a mark of direction',
  )
