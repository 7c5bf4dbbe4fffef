/** Names of accounts, keys, people, programs and views. They appear side by side in lists, logs and files. */
import { z } from 'zod'
import { operationRules } from './rules.ts'

/** Characters that are invisible or look like a gap. `OF_EMOJI` exempts those that join or colour parts of an emoji. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\u2800]/u
const OF_EMOJI =
  /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)(?:\uFE0F|\u200D(?=\p{Extended_Pictographic}))/gu

/** A name without invisible characters and marks of direction, so that it cannot look like another. */
export const visibleName = z
  .string()
  .trim()
  .regex(/^[^/\p{Cc}\p{Cs}\p{Bidi_C}]{1,100}$/u, operationRules.name_letters)
  .refine((name) => !UNSEEN.test(name.replace(OF_EMOJI, '')), operationRules.name_unseen)
