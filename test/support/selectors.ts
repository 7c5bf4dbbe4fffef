/** Selectors for the visible parts of a page, for `page.click` and similar calls. */
export const button = (name: string): string => `role=button[name=${JSON.stringify(name)}]`
export const field = (name: string): string => `role=textbox[name=${JSON.stringify(name)}]`
export const choice = (name: string): string => `role=combobox[name=${JSON.stringify(name)}]`
export const option = (name: string): string => `role=menuitem[name=${JSON.stringify(name)}]`
export const inDialog = (selector: string): string => `role=dialog >> ${selector}`
export const submit = inDialog('css=button[type=submit]')
export const drawer = inDialog('role=heading')
