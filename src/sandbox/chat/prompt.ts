import { hintsFrom, type Hints } from '../example/hints.ts'
import { countTokens } from '../tokens.ts'
import { tellingWords } from '../words.ts'
import {
  attachmentsOf,
  lastUserMessage,
  openingOf,
  openToolResults,
  textOf,
  type Attachment,
  type ToolResult,
} from './conversation.ts'
import { recalled } from './recall.ts'
import type { ChatRequest, Tool } from './request.ts'
import { sceneOf, type Scene } from './scenario.ts'
import { wishOf, type Wish } from './steer.ts'
import { chooseTools } from './tools.ts'

/** What all choices of an answer are made from: found out once, for up to 128 of them. */
export type Prompt = {
  request: ChatRequest
  /** As much of the last user message as is searched for phrases. */
  opening: string
  attachments: readonly Attachment[]
  hints: Hints
  /** Of a written scenario, what it says for this turn. */
  scene: Scene | undefined
  /** What is called unless the scene has something else. */
  tools: readonly Tool[]
  results: readonly ToolResult[]
  wish: Wish | undefined
  recalled: string | undefined
  /** The answer to who wants any object. */
  echo: string | undefined
}

export function readPrompt(request: ChatRequest): Prompt {
  const { messages, response_format: format } = request
  const message = lastUserMessage(messages)
  const text = message ? textOf(message) : ''
  const opening = openingOf(text)
  const scene = sceneOf(request)
  return {
    request,
    opening,
    attachments: attachmentsOf(message),
    hints: hintsFrom(text, 0),
    scene,
    tools: scene ? [] : chooseTools(request, opening),
    results: openToolResults(messages),
    wish: wishOf(text),
    recalled: recalled(messages),
    echo: format?.type === 'json_object' ? echoOf(text, opening) : undefined,
  }
}

const echoOf = (text: string, opening: string): string =>
  JSON.stringify({ reply: text, about: tellingWords(opening).slice(0, 5), tokens: countTokens(text) })
