/** Names of accounts, keys, people, programs and views: they stand in lists, logs and files beside each other's. */
import { z } from 'zod'
import { operationRules } from './rules.ts'

/** Takes no room, or looks like none; what joins and colours the parts of an emoji is seen by its effect. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\u2800]/u
const OF_EMOJI =
  /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)(?:\uFE0F|\u200D(?=\p{Extended_Pictographic}))/gu

/** Nothing that is not seen, and nothing that turns the text around it: a name must not read as another. */
export const visibleName = z
  .string()
  .trim()
  .regex(/^[^/\p{Cc}\p{Cs}\p{Bidi_C}]{1,100}$/u, operationRules.name_letters)
  .refine((name) => !UNSEEN.test(name.replace(OF_EMOJI, '')), operationRules.name_unseen)
