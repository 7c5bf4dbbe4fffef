/** A step of one choice. `isBeside`: the step is not the first of its round. */
type ChoiceStep<Step> = { choice: number; step: Step; isBeside?: true }

/** The steps of all choices in rounds. A round has one step of each choice that has not ended. */
export function* takeTurns<Step>(choices: readonly Iterator<Step>[]): Generator<ChoiceStep<Step>> {
  let running = [...choices.entries()]
  while (running.length > 0) {
    const going: typeof running = []
    for (const entry of running) {
      const [choice, steps] = entry
      const next = steps.next()
      if (next.done) continue
      yield { choice, step: next.value, ...(going.length > 0 ? { isBeside: true } : {}) }
      going.push(entry)
    }
    running = going
  }
}
