/**
 * Settings that Bun reads once, at its start. Tests and benches that start the gateway without the launcher set the
 * same ones, so that they measure the same program.
 */
export const bunEnv = {
  // With the default of 256, further upstream requests would queue silently.
  BUN_CONFIG_MAX_HTTP_REQUESTS: '65000',
  // The collector lets garbage grow in proportion to the machine's memory. With a stated size of 384 MB, it collects
  // more often once the heap is above 96 MB. Below that, nothing changes.
  BUN_JSC_forceRAMSize: String(384 * 1024 * 1024),
  // Below that size, the heap may grow to three times its remaining size instead of two. That is a third fewer
  // collections, and 5 % less CPU per request in two runs of nine and eleven alternating rounds. Under load it costs 15
  // MB at our 30 MB, and up to 40 % more resident memory if 70 MB are in use.
  BUN_JSC_smallHeapGrowthFactor: '3',
  // Compiled code is not discarded because of its age. That is 4 to 11 % less CPU per request in six runs, and the same
  // memory after 100,000 requests (94 and 101 MB with it, 93 to 103 MB without).
  BUN_JSC_forceCodeBlockLiveness: '1',
  // The allocator returns holes in its pages whenever a thread waits, up to ten times a second. Under load the pages
  // are needed again at once. Once a second is 4 % less CPU per request, and 18 MB more after 32 concurrent bodies of a
  // megabyte (122 MB instead of 104 MB, or 180 MB if it never returns them).
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '1000',
  NODE_ENV: 'production',
}
