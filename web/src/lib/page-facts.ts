/** Facts about the gateway that the page has for visitors, without a request. */
const factOf = (name: string): string | null | undefined =>
  document.querySelector(`meta[name=${name}]`)?.getAttribute('content')

/** Whether visitors may see the models. */
export const showsModels = (): boolean => factOf('models') === 'shown'

/** Whether the gateway has an operator. Without one, nobody can sign in. */
export const hasOperator = (): boolean => factOf('operator') !== 'missing'
