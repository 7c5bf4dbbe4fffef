/** An upstream's answer of bytes, such as audio. They reach the client unchanged. */
export type BytesAnswer = {
  /**
   * The content type for the client, by the upstream's. Undefined if it is not that of an answer. The result comes from
   * a closed list, because a browser acts on the type of what an address of the gateway returns.
   */
  readonly typeOf: (contentType: string) => string | undefined
}

/** Bytes with the content type that the client gets. */
export type TypedBytes = { readonly bytes: Uint8Array; readonly contentType: string }
