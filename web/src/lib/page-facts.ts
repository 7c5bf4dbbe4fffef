/** What the page says of the gateway to whoever is not signed in, without a question. */
const factOf = (name: string): string | null | undefined =>
  document.querySelector(`meta[name=${name}]`)?.getAttribute('content')

/** Whether the operator shows models to everybody. */
export const showsModels = (): boolean => factOf('models') === 'shown'

/** Whether the gateway has its first operator: before, nobody can sign in. */
export const hasOperator = (): boolean => factOf('operator') !== 'missing'
