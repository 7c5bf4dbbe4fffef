/** Whether the operator shows models to whoever is not signed in: the page says so, without a question. */
export const showsModels = (): boolean =>
  document.querySelector('meta[name=models]')?.getAttribute('content') === 'shown'
