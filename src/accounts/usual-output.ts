/** What answers come to that nobody has set a limit to, before any was seen: a page of text. */
const BEFORE_ANY = 500
/** How much each new one counts. */
const WEIGHT = 1 / 4

/** How many tokens such answers have come to of late: what the next is taken for until it is there. */
export class UsualOutput {
  tokens = BEFORE_ANY

  learn(tokens: number): void {
    this.tokens += (tokens - this.tokens) * WEIGHT
  }
}
