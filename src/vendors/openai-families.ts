/** What families of OpenAI's models take, where a row of rules.ts cannot say it. */

/** Models that never reason. OpenAI refuses a request to them that asks for sealed reasoning (2026-08). */
const WITHOUT_REASONING = /(?:^|\/)(?:chatgpt-|gpt-[34])/

/** Whether a model may be asked for its reasoning in sealed form. */
export const sealsReasoning = (upstreamModel: string): boolean => !WITHOUT_REASONING.test(upstreamModel)
