/**
 * The `meta` of a change that is made in a form which shows what was there before: it is done once the page shows what
 * was changed. The form would have the old values again for whoever opens it in between. What follows belongs into the
 * call of `mutate`: it must not happen to the form of somebody who has left this one and opened another.
 */
export const editing = { is: 'editing' }
