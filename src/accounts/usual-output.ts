/** The assumed tokens of an answer without a limit before any was seen: a page of text. */
const BEFORE_ANY = 500
/** The weight of each new answer in the average. */
const WEIGHT = 1 / 4

/** The recent average of tokens in answers without a limit. It is the forecast for the next one. */
export class UsualOutput {
  tokens = BEFORE_ANY

  learn(tokens: number): void {
    this.tokens += (tokens - this.tokens) * WEIGHT
  }
}
