// Does rounds of an operation for the process that measures it, which is another one.

/** In a case's process: does a round whenever it is asked for one, and tells what it cost. */
export function serveRounds(work, perCall) {
  process.on("message", async ({ roundMs }) => {
    const cpu = process.cpuUsage();
    const start = performance.now();
    let calls = 0;
    while (performance.now() - start < roundMs) {
      await work();
      calls++;
    }
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const operations = calls * perCall;
    process.send({
      perSecond: operations / seconds,
      cpuMicros: (user + system) / operations,
      rss: process.memoryUsage.rss(),
    });
  });
  process.on("disconnect", () => process.exit());
  process.send("ready");
}
