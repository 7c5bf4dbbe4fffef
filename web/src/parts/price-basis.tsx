import { useT } from '../lib/language.ts'

type Basis = { readonly basis: 'model' | 'factor' | 'card'; readonly factor: string | null }

/** Says where a price comes from: the model, its price at the factor of the account, or the account's own price. */
export function usePriceBasis(): (price: Basis) => string {
  const t = useT()
  return ({ basis, factor }) =>
    basis === 'factor' ? t('price.basis.factor', { factor: factor ?? '' }) : t(`price.basis.${basis}`)
}
