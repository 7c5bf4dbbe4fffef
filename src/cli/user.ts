import { baseUrlOf } from './first-call.ts'
import { command, group } from './command.ts'
import { operate, shown, usage, type CommandOutcome } from './outcome.ts'
import type { Program } from './program.ts'
import { shortTime, table } from './table.ts'
import { text } from './values.ts'

/** One element of the value of `user.list`. */
type UserView = {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly account_name: string | null
  readonly status: string
  readonly created_at: string
}
type LinkView = UserView & { readonly setup_path: string }

const ROLES = ['operator', 'owner', 'member']
const user = { name: 'user', summary: 'name or id of the user', value: text('USER') } as const

/** The link alone goes to stdout, so that it can be passed on. */
async function shownLink(program: Program, view: LinkView): Promise<CommandOutcome> {
  const origin = baseUrlOf(await program.address()).replace(/\/v1$/, '')
  const link = origin + view.setup_path
  const talk = `${view.name} (${view.role}${view.account_name === null ? '' : ` of '${view.account_name}'`}) chooses a password there. The link works once.`
  return shown({ ...view, link }, `${link}\n`, { talk })
}

const create = command({
  name: 'user create',
  summary: 'Invites a person to the console, and prints a one-time link for choosing a password.',
  examples: [
    ['tollgate user create robin --role operator'],
    ['tollgate user create kim --role owner --account acme', 'manages the account, and nothing else'],
    ['tollgate user create lee --role member --account acme', 'may only look'],
  ],
  positionals: [{ name: 'user', summary: 'name to sign in with', value: text('NAME') }],
  options: {
    role: { summary: 'operator, owner or member', value: text('ROLE'), takes: 'needed' },
    account: { summary: 'account of an owner or a member', value: text('ACCOUNT') },
  },
  run: async ({ args, options: { role, account }, program }) => {
    if (!ROLES.includes(role)) return usage(`user create: --role must be ${ROLES.join(', ')}, not '${role}'`)
    const input = { name: args.user, role, ...(account === undefined ? {} : { account }) }
    return operate<LinkView>(program, { name: 'user.create', input }, (view) => shownLink(program, view))
  },
})

const reset = command({
  name: 'user reset',
  summary: 'Prints a one-time link for choosing a new password.',
  examples: [['tollgate user reset robin']],
  positionals: [user],
  run: ({ args, program }) =>
    operate<LinkView>(program, { name: 'user.reset', input: { user: args.user } }, (view) => shownLink(program, view)),
})

const users = command({
  name: 'user list',
  summary: 'Lists the people who may sign in to the console.',
  examples: [['tollgate user list --json']],
  run: ({ program, terminal }) =>
    operate<readonly UserView[]>(program, { name: 'user.list', input: {} }, (views) => {
      const columns = [
        { title: 'id', of: ({ id }: UserView) => id },
        { title: 'name', of: ({ name }: UserView) => name },
        { title: 'role', of: ({ role }: UserView) => role },
        { title: 'account', of: (view: UserView) => view.account_name ?? '-' },
        { title: 'status', of: ({ status }: UserView) => status },
        { title: 'created', of: (view: UserView) => shortTime(view.created_at) },
      ]
      const talk =
        views.length === 0 ? 'No users yet. Invite one: tollgate user create NAME --role operator' : undefined
      return shown(views, table(views, columns, terminal), { talk })
    }),
})

const switched = (verb: 'disable' | 'enable', summary: string) =>
  command({
    name: `user ${verb}`,
    summary,
    examples: [[`tollgate user ${verb} kim`]],
    positionals: [user],
    run: ({ args, program }) =>
      operate<UserView>(program, { name: `user.${verb}`, input: { user: args.user } }, (view) =>
        shown(view, `${view.name}  ${view.status}\n`),
      ),
  })

export const userGroup = group({
  name: 'user',
  summary: 'People who sign in to the console.',
  examples: [['tollgate user create robin --role operator'], ['tollgate user list']],
  commands: [
    create,
    users,
    reset,
    switched('disable', 'Disables a user, and signs them out everywhere.'),
    switched('enable', 'Enables a disabled user again.'),
  ],
})
