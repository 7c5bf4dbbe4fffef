/**
 * Names of tools for upstreams that know functions only. This format groups tools in namespaces and has call types of
 * its own. A plain name must identify the tool and lead back to the client's own name for it.
 */
import { createHash } from 'node:crypto'

/** Item types by which this format calls a tool that the client runs. */
export type CallType =
  | 'function_call'
  | 'custom_tool_call'
  | 'tool_search_call'
  | 'local_shell_call'
  | 'shell_call'
  | 'apply_patch_call'

/** The client's own name for a tool. A name is unique within its namespace. */
export type CallShape = {
  readonly type: CallType
  readonly name: string
  readonly namespace?: string | undefined
}

const HASH_CHARS = 8

/**
 * The namespace of tools without one, in the words of OpenAI's models. Codex puts it before its own (0.169, 2026-11).
 */
const DEFAULT_NAMESPACE = 'functions'

export class CallNames {
  private readonly byKey = new Map<string, string>()
  private readonly shapes = new Map<string, CallShape>()
  /** By other spellings of the name, if they mean only one tool. */
  private readonly meant = new Map<string, CallShape | 'several'>()

  /** The upstream name of a tool. The same tool always gets the same name. */
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

  /** The tool that a model means. Some models leave out its namespace, or put a dot after it. */
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

/** Functions and custom tools share their names. A history may hold both kinds of call for one tool. */
const kindOf = (type: CallType): string => (type === 'custom_tool_call' ? 'function_call' : type)

function* spellings(shape: CallShape): Generator<string> {
  if (shape.namespace === undefined || shape.namespace === DEFAULT_NAMESPACE) yield shape.name
  if (shape.namespace !== undefined) yield joined(shape)
}

function joined({ name, namespace }: CallShape): string {
  if (namespace === undefined) return name
  return namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`
}
