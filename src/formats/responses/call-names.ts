/**
 * Names of tools for upstreams that know functions alone. This format groups tools in namespaces and has kinds of calls
 * of its own; a plain name has to say which tool is meant, and lead back to the client's own words for it.
 */
import { createHash } from 'node:crypto'

/** Items by which this format calls a tool that its client runs. */
export type CallType =
  | 'function_call'
  | 'custom_tool_call'
  | 'tool_search_call'
  | 'local_shell_call'
  | 'shell_call'
  | 'apply_patch_call'

/** How a client's tool is called in its own words. A name is unique within its namespace. */
export type CallShape = {
  readonly type: CallType
  readonly name: string
  readonly namespace?: string | undefined
}

const HASH_CHARS = 8

/** The namespace of tools without one, as OpenAI's models name it: Codex puts it before its own (0.169, 2026-11). */
const DEFAULT_NAMESPACE = 'functions'

export class CallNames {
  private readonly byKey = new Map<string, string>()
  private readonly shapes = new Map<string, CallShape>()
  /** By other names for it, as long as they mean one tool alone. */
  private readonly meant = new Map<string, CallShape | 'several'>()

  /** The name that a tool has upstream: always the same one for the same tool. */
  claim(shape: CallShape): string {
    const key = keyOf(shape)
    const known = this.byKey.get(key)
    if (known !== undefined) return known
    const name = this.free(shape, key)
    this.byKey.set(key, name)
    this.shapes.set(name, shape)
    if (shape.namespace === undefined) return name
    for (const other of [shape.name, `${shape.namespace}.${shape.name}`]) {
      this.meant.set(other, this.meant.has(other) ? 'several' : shape)
    }
    return name
  }

  /** The tool that a model means. Some call it without its namespace, or with a dot behind it. */
  shapeOf(called: string): CallShape | undefined {
    const meant = this.meant.get(called)
    return this.shapes.get(called) ?? (meant === 'several' ? undefined : meant)
  }

  private free(shape: CallShape, key: string): string {
    for (const name of spellings(shape)) if (!this.shapes.has(name)) return name
    const hash = createHash('sha256').update(key).digest('hex').slice(0, HASH_CHARS)
    return `${joined(shape)}_${hash}`
  }
}

const keyOf = ({ type, name, namespace }: CallShape): string => JSON.stringify([kindOf(type), namespace ?? null, name])

/** Functions and custom tools share their names: a history may hold either kind of call for the same tool. */
const kindOf = (type: CallType): string => (type === 'custom_tool_call' ? 'function_call' : type)

function* spellings(shape: CallShape): Generator<string> {
  if (shape.namespace === undefined || shape.namespace === DEFAULT_NAMESPACE) yield shape.name
  if (shape.namespace !== undefined) yield joined(shape)
}

function joined({ name, namespace }: CallShape): string {
  if (namespace === undefined) return name
  return namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`
}
