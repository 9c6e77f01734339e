// Ends a worker of vitest whose run was killed; what its tests have started ends with it, by their `exit` hooks.

// Read anew for each test file, and said once.
if (process.channel && process.listenerCount("disconnect") === 0)
  process.once("disconnect", () => process.exit(1));
