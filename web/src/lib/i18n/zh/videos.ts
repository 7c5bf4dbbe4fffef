/** 视频失败的原因，按其代码。 */
export const videos: Readonly<Record<string, string>> = {
  policy: '视频被内容政策拒绝。',
  fault: '视频未能生成。',
  cancelled: '视频的生成在上游被取消。',
  expired: '视频在上游的生成时间过长。',
  gone: '任务在上游丢失。',
  unsure: '无法确定任务是否已移交。',
  overdue: '视频未能按时生成。',
  upscaling: '视频的超分辨率失败。',
  unusable: '无法取得生成的视频。',
}
