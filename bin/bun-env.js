/**
 * What Bun reads once, when it starts. Whoever starts the gateway without the launcher (a test, a bench) gives it the
 * same, or it would be another program that is tested.
 */
export const bunEnv = {
  // With its default of 256 every further upstream request would queue without a word.
  BUN_CONFIG_MAX_HTTP_REQUESTS: '65000',
  // The collector lets garbage pile up in proportion to the machine's memory: taken for one of 384 MB it
  // collects more often once the heap is above 96, and nothing changes below.
  BUN_JSC_forceRAMSize: String(384 * 1024 * 1024),
  // Below that the heap may grow to three times what was left of it, not two: a third fewer collections, 5 % less CPU a
  // request in two runs of nine and eleven rounds in turns. Under load it is 15 MB more at our 30, and up to 40 % more
  // resident memory where 70 MB are in use.
  BUN_JSC_smallHeapGrowthFactor: '3',
  // Compiled code is not thrown away for its age, to be compiled again: 4 to 11 % less CPU a request in six runs, and
  // the same memory after 100,000 requests (94 and 101 MB with it, 93 to 103 without).
  BUN_JSC_forceCodeBlockLiveness: '1',
  // The allocator gives holes in its pages back whenever a thread waits, ten times a second: under load the pages are
  // needed again at once. Once a second is 4 % less CPU a request, and 18 MB more after 32 bodies of a megabyte at once
  // (122 instead of 104; 180 where it never gives them back).
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '1000',
  NODE_ENV: 'production',
}
