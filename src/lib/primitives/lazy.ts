/**
 * A module that is loaded at its first use, so that a start does not pay for it. If the module is loaded already, `use`
 * runs at once.
 */
export type Late<M> = {
  <T>(use: (module: M) => T | Promise<T>): T | Promise<T>
  readonly load: () => Promise<M>
}

export function late<M>(load: () => Promise<M>): Late<M> {
  let here: M | undefined
  let loading: Promise<M> | undefined
  const loadOnce = (): Promise<M> =>
    (loading ??= load().then(
      (module) => (here = module),
      (error: unknown) => {
        // A later call may find the file. The runtime tries a failed import of the module itself only once, though.
        loading = undefined
        throw error
      },
    ))
  const withModule = <T>(use: (module: M) => T | Promise<T>): T | Promise<T> =>
    here ? use(here) : loadOnce().then(use)
  return Object.assign(withModule, { load: loadOnce })
}
