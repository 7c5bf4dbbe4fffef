/** A valid, small request that causes enormous work. */
export type Bomb = {
  /** For the report of a failure. */
  readonly name: string
  /** Below the gateway's origin. */
  readonly path: string
  /** JSON. */
  readonly body: object
}
