/**
 * A module that is loaded when it is needed first: what a start does not need takes none of its time. Where it is here
 * already, what is made of it is made at once.
 */
export type Late<M> = {
  <T>(use: (module: M) => T | Promise<T>): T | Promise<T>
  load(): Promise<M>
}

export function late<M>(load: () => Promise<M>): Late<M> {
  let here: M | undefined
  let loading: Promise<M> | undefined
  const loadOnce = (): Promise<M> =>
    (loading ??= load().then(
      (module) => (here = module),
      (error: unknown) => {
        // The next one may find the file. What it imports in vain, though, the runtime tries once only.
        loading = undefined
        throw error
      },
    ))
  const withModule = <T>(use: (module: M) => T | Promise<T>): T | Promise<T> =>
    here ? use(here) : loadOnce().then(use)
  return Object.assign(withModule, { load: loadOnce })
}
