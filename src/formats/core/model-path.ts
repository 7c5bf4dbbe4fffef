/** Paths that name the model of a request. */
import type { Destination } from './contract.ts'

/** A segment that a server would read as the parent folder. */
const DOTS_ONLY = /(?<=^|\/)\.+(?=\/|$)/g

/**
 * The id of a model as one percent-encoded segment, which cannot be `..`. A server that decodes slashes too early finds
 * no parent folder in it either.
 */
export const modelSegment = (id: string): string => encodeURIComponent(id.toWellFormed().replace(DOTS_ONLY, '_'))

/**
 * The version of the paths with a deployment: the last one that is not a preview
 * (https://learn.microsoft.com/en-us/azure/ai-foundry/openai/api-version-lifecycle, read on 2026-11-26).
 */
export const DEPLOYMENT_VERSION = 'api-version=2024-10-21'

/** The path of a request in one of OpenAI's formats. */
export const pathOf = (
  path: string,
  { upstreamModel, quirks }: Pick<Destination, 'upstreamModel' | 'quirks'>,
): string =>
  quirks.modelIn === 'deployment_path'
    ? `/deployments/${modelSegment(upstreamModel)}${path}?${DEPLOYMENT_VERSION}`
    : path
