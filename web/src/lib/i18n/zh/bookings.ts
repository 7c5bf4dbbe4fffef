/** 账本中由网关自己写下的原因，按其代码。 */
export const bookings: Readonly<Record<string, string>> = {
  opening: '初始余额',
  code: '兑换码 …{end}',
  code_noted: '兑换码 …{end}（{note}）',
}
