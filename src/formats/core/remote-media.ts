/** Media that a request names by address: upstreams fetch them, and an upstream may be the operator's own. */
export type RemoteMedium = {
  readonly url: string
  /** Where the address stands in the request: `messages[0].content[1].image_url.url`. */
  readonly param: string
}

/** Whether an address is the medium itself. */
export const isInline = (url: string): boolean => /^data:/i.test(url.slice(0, 5))
