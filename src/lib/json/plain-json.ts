/** JSON of others, whose fields are copied from one object to another. */

/** `__proto__` as it can be written: any of its characters can be an escape. */
const MAY_HAVE_PROTO = /__proto__|\\u00(?:5f|7[024]|6f)/i

/**
 * The value of a member as it is kept: none is called `__proto__`. Whoever copies one by assignment gives the copy
 * another prototype, or changes the one that all objects share. No API has it.
 */
export const revivePlain = (name: string, value: unknown): unknown => (name === '__proto__' ? undefined : value)

/** `JSON.parse` without members called `__proto__`. Throws a `SyntaxError` for what is no JSON. */
export const parsePlain = (text: string): unknown =>
  MAY_HAVE_PROTO.test(text) ? JSON.parse(text, revivePlain) : JSON.parse(text)

/** Whether JSON text has a member called `__proto__`, at any depth. Throws a `SyntaxError` for what is no JSON. */
export function hasProtoMember(text: string): boolean {
  if (!MAY_HAVE_PROTO.test(text)) return false
  let isFound = false
  JSON.parse(text, (name, value: unknown) => {
    isFound ||= name === '__proto__'
    return value
  })
  return isFound
}
