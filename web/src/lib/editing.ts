/**
 * The `meta` of a mutation in a form that shows stored values. The mutation ends when the page shows the new values.
 * Otherwise the form could be opened again with the old ones. Put follow-up actions into the call of `mutate`: they
 * must not act on the form of another object that was opened since.
 */
export const editing = { is: 'editing' }
