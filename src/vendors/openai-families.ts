/** What families of OpenAI's models take that is no field of a request alone. */

/** Models that never reason: their vendor refuses a request that asks for sealed reasoning (OpenAI, 2026-08). */
const WITHOUT_REASONING = /(?:^|\/)(?:chatgpt-|gpt-[34])/

/** Whether a model may be asked for its reasoning in sealed form. */
export const sealsReasoning = (upstreamModel: string): boolean => !WITHOUT_REASONING.test(upstreamModel)
