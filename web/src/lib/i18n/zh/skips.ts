/** 导入目录价时忽略的原因，按其代码。 */
export const skips: Readonly<Record<string, string>> = {
  declared: '在 tollgate.yaml 中声明，请在那里更改',
  vendor_unknown: '价目表没有预设“{preset}”的厂商',
  offer_unpriced: '价目表没有 {provider} 所供模型的价格',
  output_unpriced: '价目表没有它的输出价格',
  none_named: '所选供应商没有此名称的模型',
  as_listed: '价目表说明：{why}',
  by_deployment: '模型以您的部署命名，请在 tollgate.yaml 中声明',
  by_region: '价格因地区而异，请在 tollgate.yaml 中声明',
  other_currency: '该厂商不以美元计费，请在 tollgate.yaml 中声明其模型',
  by_pixels: '视频按像素计价，请在 tollgate.yaml 中声明',
  passed_on: '费用取决于请求转给了谁',
  fee: '除 token 外每次请求另收费用',
  unlisted: '价目表没有此厂商',
  upscaler: '它为指定它的模型提升视频分辨率，请在 tollgate.yaml 中声明',
  not_text: '不只是文本，或不只按 token 计费',
  no_price: '没有价格',
}
