/** Media that a request names by address. Upstreams fetch them, and an upstream may be the operator's own server. */
export type RemoteMedium = {
  readonly url: string
  /** The place of the address in the request: `messages[0].content[1].image_url.url`. */
  readonly param: string
}

/** Whether an address contains the medium itself. */
export const isInline = (url: string): boolean => /^data:/i.test(url.slice(0, 5))
