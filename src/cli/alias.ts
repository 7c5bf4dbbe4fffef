import { command, group } from './command.ts'
import { operate, shown } from './outcome.ts'
import { table, type Column } from './table.ts'
import { text } from './values.ts'

/** One element of the value of `alias.list`. */
type AliasView = {
  readonly id: string
  readonly model: string
  readonly origin: string
  readonly in_use: boolean
}

const columns: readonly Column<AliasView>[] = [
  { title: 'alias', of: ({ id }) => id },
  { title: 'model', of: ({ model }) => model },
  { title: 'origin', of: ({ origin }) => origin },
  { title: 'in use', of: (view) => (view.in_use ? 'yes' : 'no') },
]

const alias = { name: 'alias', summary: 'name that clients send', value: text('ALIAS') } as const

const set = command({
  name: 'alias set',
  summary: 'Makes an alias of a model, or points an alias to another model.',
  examples: [
    ['tollgate alias set gpt-4 gpt-4.1', 'a request for gpt-4 is one for gpt-4.1, at its price'],
    ['tollgate alias set smart claude-sonnet-5', 'the next request for smart goes there'],
  ],
  positionals: [alias, { name: 'model', summary: 'id of the model that it stands for', value: text('MODEL') }],
  run: ({ args: { alias: id, model }, program, terminal }) =>
    operate<AliasView>(program, { name: 'alias.set', input: { id, model } }, (view) =>
      shown(view, table([view], columns, terminal)),
    ),
})

const aliases = command({
  name: 'alias list',
  summary: 'Lists aliases and the models that they stand for.',
  examples: [['tollgate alias list']],
  run: ({ program, terminal }) =>
    operate<readonly AliasView[]>(program, { name: 'alias.list', input: {} }, (views) => {
      const talk = views.length === 0 ? 'No aliases yet. Make one: tollgate alias set ALIAS MODEL' : undefined
      return shown(views, table(views, columns, terminal), { talk })
    }),
})

const remove = command({
  name: 'alias remove',
  summary: 'Removes an alias: requests by this name are refused from now on. The model stays.',
  examples: [['tollgate alias remove gpt-4 --yes']],
  positionals: [alias],
  confirms: ({ alias: id }) => ({
    consequence: `Alias '${id}' is removed; requests by this name are refused.`,
    word: id,
  }),
  run: ({ args: { alias: id }, program }) =>
    operate<{ id: string }>(program, { name: 'alias.remove', input: { id } }, (value) =>
      shown(value, `${value.id}  removed\n`),
    ),
})

export const aliasGroup = group({
  name: 'alias',
  summary: 'Other names for models.',
  examples: [['tollgate alias set gpt-4 gpt-4.1'], ['tollgate alias list']],
  commands: [set, aliases, remove],
})
