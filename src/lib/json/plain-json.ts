/** Untrusted JSON, whose fields are copied between objects. */

/** Every way to write `__proto__`. Any of its characters can be an escape. */
const MAY_HAVE_PROTO = /__proto__|\\u00(?:5f|7[024]|6f)/i

/**
 * Removes members called `__proto__`. Copying such a member by assignment changes the prototype of the copy, or the one
 * that all objects share. No API has it.
 */
export const revivePlain = (name: string, value: unknown): unknown => (name === '__proto__' ? undefined : value)

/** `JSON.parse` without members called `__proto__`. Throws a `SyntaxError` for invalid JSON. */
export const parsePlain = (text: string): unknown =>
  MAY_HAVE_PROTO.test(text) ? JSON.parse(text, revivePlain) : JSON.parse(text)

/** Whether JSON text has a member called `__proto__` at any depth. Throws a `SyntaxError` for invalid JSON. */
export function hasProtoMember(text: string): boolean {
  if (!MAY_HAVE_PROTO.test(text)) return false
  let isFound = false
  JSON.parse(text, (name, value: unknown) => {
    isFound ||= name === '__proto__'
    return value
  })
  return isFound
}
