// Does rounds of an operation for the process that measures it, which is another one.

/**
 * In a case's process: does a round whenever it is asked for one, and tells what it cost. Work that is done by a process
 * of its own gives the microseconds of the processor which that took.
 */
export function serveRounds(work, perCall) {
  process.on("message", async ({ roundMs }) => {
    const cpu = process.cpuUsage();
    const start = performance.now();
    let [calls, elsewhere] = [0, 0];
    while (performance.now() - start < roundMs) {
      const took = await work();
      if (typeof took === "number") elsewhere += took;
      calls++;
    }
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const operations = calls * perCall;
    const own = elsewhere > 0 ? 0 : user + system;
    process.send({
      perSecond: operations / seconds,
      cpuMicros: (own + elsewhere) / operations,
      rss: process.memoryUsage.rss(),
    });
  });
  process.on("disconnect", () => process.exit());
  process.send("ready");
}
