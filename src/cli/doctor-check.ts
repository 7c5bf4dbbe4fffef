/** One line of `tollgate doctor`. */
export type CheckState = 'ok' | 'warn' | 'fail'
export type DoctorCheck = { readonly name: string; readonly state: CheckState; readonly detail: string }
