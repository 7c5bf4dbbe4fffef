/**
 * Tells tool calls in a stream apart, whatever ids and indexes a server gives them. The format gives each call an
 * index, and its id and name once. Known servers (2026-11) give every call the index 0 and an id of its own (Google's
 * endpoint of this format), no index at all, another id in each chunk (vLLM until 0.6), or no id.
 */
import { toolOfCall, wordsOfCall } from '../core/call-arguments.ts'
import { ANSWER_CALLS_MAX } from '../../domain/limits.ts'
import { randomId } from '../../lib/primitives/ids.ts'
import { JsonEnd } from '../../lib/json/json-end.ts'
import { asFields, asText, fieldsIn, numberIn, textIn, type Fields } from '../core/fields.ts'
import { longerName } from './call-name.ts'

type StreamCall = {
  readonly number: number
  readonly tool: 'function' | 'custom'
  /** The server's number for the call. */
  readonly place: number | undefined
  /** The server's id for the call. Undefined until it comes. */
  given: string | undefined
  id: string
  name: string
  readonly words: JsonEnd
}

type Piece = {
  readonly place: number | undefined
  readonly id: string | undefined
  readonly name: string
  readonly words: string
  /** Whether another call comes before it in the same chunk. */
  readonly isBehind: boolean
}

/** The calls of one choice. */
export class StreamCalls {
  private readonly calls: StreamCall[] = []
  private readonly ids = new Map<string, StreamCall>()
  private readonly places = new Map<number, StreamCall>()

  get size(): number {
    return this.calls.length
  }

  /** The calls of one delta as the format has them. Returns the same list if nothing changes. */
  read(list: readonly unknown[]): readonly unknown[] {
    let isOdd = false
    const read = list.map((one, i) => {
      const entry = fieldsIn(one)
      const lawful = entry && this.readOne(entry, i > 0)
      isOdd ||= lawful !== entry
      return lawful ?? one
    })
    return isOdd ? read : list
  }

  /** Empty arguments for each function that was called without any. */
  withoutArguments(): Fields[] {
    return this.calls.flatMap(({ number: index, tool, words }) => {
      if (tool === 'custom' || words.hasBegun) return []
      words.add('{}')
      return [{ index, function: { arguments: '{}' } }]
    })
  }

  private readOne(entry: Fields, isBehind: boolean): Fields {
    const tool = toolOfCall(entry)
    const field = tool === 'custom' ? 'input' : 'arguments'
    const body = asFields(entry[tool])
    if (this.goesOn(entry, body, body[field])) return entry
    const index =
      numberIn(entry['index']) ?? (/^\d{1,4}$/.test(asText(entry['index'])) ? Number(entry['index']) : undefined)
    const piece: Piece = {
      place: index,
      id: textIn(entry['id']) || undefined,
      name: asText(body['name']),
      words: wordsOfCall(body[field]),
      isBehind,
    }
    const known = this.find(piece)
    if (!known && piece.id === undefined && piece.name === '' && piece.words === '') return entry
    // Calls beyond the bound pass unchanged. Another check refuses the answer.
    if (!known && this.calls.length >= ANSWER_CALLS_MAX) return entry
    const call = known ?? this.begin(piece, tool)
    const name = known ? this.furtherName(known, piece) : call.name
    call.words.add(piece.words)
    const { id, type } = entry
    const isPlain =
      entry['index'] === call.number &&
      (known ? (id ?? call.id) === call.id : id === call.id && type !== undefined) &&
      (body[field] === undefined || body[field] === piece.words) &&
      name === piece.name
    if (isPlain) return entry
    const { id: _, type: __, index: ___, [tool]: ____, ...rest } = entry
    return {
      index: call.number,
      ...(known ? {} : { id: call.id, type: tool }),
      [tool]: { ...body, name: name === '' ? undefined : name, [field]: piece.words },
      ...rest,
    }
  }

  /** Whether this is a further piece of arguments, as nearly all are. */
  private goesOn({ index, id }: Fields, { name }: Fields, words: unknown): boolean {
    if (typeof index !== 'number' || id !== undefined || name !== undefined || typeof words !== 'string') return false
    const call = this.places.get(index)
    if (call?.number !== index) return false
    call.words.add(words)
    return true
  }

  private find(piece: Piece): StreamCall | undefined {
    const { place, id, name } = piece
    const last = this.calls.at(-1)
    const there = place === undefined ? undefined : this.places.get(place)
    if (id !== undefined) {
      const named = this.ids.get(id)
      // The same id at another index, with a name: two calls that the server does not tell apart.
      if (named)
        return there === undefined && place !== undefined && named.place !== undefined && name !== ''
          ? undefined
          : named
      // A new id with a name is a new call. Without a name it is one more id of the current call.
      if (name !== '') return there?.given === undefined && there?.words.hasBegun === false ? there : undefined
      return there ?? last
    }
    if (name === '') return there ?? last
    if (place !== undefined) return there?.words.isWhole ? undefined : there
    if (!last || piece.isBehind || last.words.isWhole) return undefined
    return last.name === name ? last : undefined
  }

  private begin({ place, id, name }: Piece, tool: StreamCall['tool']): StreamCall {
    const number = this.calls.length
    const isTaken = id === undefined || this.ids.has(id)
    const call: StreamCall = {
      number,
      tool,
      place,
      given: id,
      id: isTaken ? randomId('call_') : id,
      name,
      words: new JsonEnd(),
    }
    this.calls.push(call)
    if (id !== undefined) this.ids.set(id, call)
    if (place !== undefined) this.places.set(place, call)
    return call
  }

  /** What a piece adds to a name. Nothing if the arguments have begun, or if the piece repeats the name. */
  private furtherName(call: StreamCall, { id, name }: Piece): string {
    if (id !== undefined) {
      call.given ??= id
      this.ids.set(id, call)
    }
    if (name === '' || call.words.hasBegun) return ''
    const longer = longerName(call.name, name)
    if (longer === call.name) return ''
    call.name = longer
    return name
  }
}
