import { limit } from '../lib/primitives/limit.ts'
import { ModelSignals, OfferSignals } from './signals.ts'

const SIGNALS_MAX = limit(
  'measuredOffersMax',
  4_096,
  'So many offers, and so many models, are measured. A further one takes the place of the one that was first.',
)

/** The signals of all offers and models. A restart forgets them. */
export class SignalBook {
  private readonly offers = new Map<string, OfferSignals>()
  private readonly models = new Map<string, ModelSignals>()

  offer(id: string): OfferSignals | undefined {
    return this.offers.get(id)
  }

  model(id: string): ModelSignals | undefined {
    return this.models.get(id)
  }

  /** The signals of an offer, to be added to. */
  openOffer(id: string): OfferSignals {
    return this.offers.get(id) ?? added(this.offers, id, new OfferSignals())
  }

  openModel(id: string): ModelSignals {
    return this.models.get(id) ?? added(this.models, id, new ModelSignals())
  }
}

function added<Signals>(book: Map<string, Signals>, id: string, signals: Signals): Signals {
  if (book.size >= SIGNALS_MAX)
    for (const first of book.keys()) {
      book.delete(first)
      break
    }
  book.set(id, signals)
  return signals
}
