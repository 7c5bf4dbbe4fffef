/**
 * Possible bugs of a gateway between dialects, each as an edit of the sources. The conversations must find every one.
 */
import type { Edit } from '../../support/sources.ts'

export type Mutant = { readonly name: string; readonly edits: readonly Edit[] }

const edit = (file: string, from: string, to: string): Edit => ({ file: `src/formats/${file}`, from, to })

export const mutants: readonly Mutant[] = [
  {
    name: 'ids of calls stay as they came',
    edits: [edit('core/translated.ts', 'withAllResults(withCallIds(own, dialect))', 'withAllResults(own)')],
  },
  {
    name: 'results stay in the order in which they came',
    edits: [
      edit('core/call-ids.ts', 'results.toSorted((a, b) => rank(a) - rank(b))', 'results.filter((a) => rank(a) >= 0)'),
      edit('core/translated.ts', 'withAllResults(withCallIds(own, dialect))', 'withCallIds(own, dialect)'),
    ],
  },
  {
    name: 'results without ids stay in the order in which they came',
    edits: [
      edit(
        'gemini/nameless-calls.ts',
        'withoutIds(inOrder(contents))',
        'withoutIds(inOrder(contents) && listedItems(contents))',
      ),
    ],
  },
  {
    name: 'a result goes to an earlier call of its id',
    edits: [edit('responses/turn.ts', "if (part.kind === 'tool_call') results.delete(part.id)", 'void part')],
  },
  {
    name: 'numbers of arguments are read and written',
    edits: [edit('messages/client.ts', 'exactBody(body, this.request.text)', 'exactBody(body, "")')],
  },
  {
    name: 'a result that is an object is read and written',
    edits: [
      edit(
        'gemini/client.ts',
        'const exact = exactGeminiBody(this.request)',
        'const exact = exactGeminiBody({ ...this.request, text: "" })',
      ),
    ],
  },
  {
    name: 'thoughts do not come back to who wants them',
    edits: [
      edit('chat/upstream-side.ts', 'reply: withSeals(read.reply)', 'reply: withSeals ? read.reply : read.reply'),
    ],
  },
  {
    name: 'signatures do not come back to who made them',
    edits: [
      edit(
        'gemini/contents.ts',
        "const own = sealed?.origin === 'gemini' ? sealed.data : undefined",
        'const own = sealed ? undefined : undefined',
      ),
    ],
  },
  {
    name: 'what one vendor sealed goes to another',
    edits: [edit('messages/conversation.ts', "if (sealed?.origin !== 'messages') {", 'if (!sealed) {')],
  },
  {
    name: 'what one vendor thought is told to another',
    edits: [edit('chat/upstream-side.ts', "takesThoughtsBack(quirks) ? 'said' : 'lost'", "quirks ? 'said' : 'lost'")],
  },
  {
    name: 'what one account sealed goes to another',
    edits: [
      edit(
        'core/own-seals.ts',
        'account === undefined || own === undefined || account === own',
        'account === undefined || own !== ""',
      ),
    ],
  },
  {
    name: 'what was put into chat for its client goes to a vendor',
    edits: [
      edit(
        'chat/history.ts',
        'asList(details).some(isSealedDetail)',
        'asList(details).every(isSealedDetail) && details === 0',
      ),
    ],
  },
  {
    name: 'calls that were interrupted stay open',
    edits: [edit('chat/history.ts', 'isAnswered(named) ? named', 'isAnswered(named) || named.length > 0 ? named')],
  },
  {
    name: 'the client gets the names of tools that its vendor knows',
    edits: [
      edit(
        'core/tool-names.ts',
        'return this.originals.get(name) ?? name',
        'return this.originals.size < 0 ? "" : name',
      ),
    ],
  },
  {
    name: 'a stream has no end',
    edits: [edit('messages/client-side.ts', "+ event({ type: 'message_stop' })", '')],
  },
  {
    name: 'signed thoughts go to models that sign none',
    edits: [edit('converse/conversation.ts', '|| !this.options.family.signsThoughts', '')],
  },
]
