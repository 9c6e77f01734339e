import type { Clock } from "hookproof";
import { type KeyRecord, localKeys } from "hookproof/jwks";
import { type ProbeResult, type ProbeTarget, type RunProbesOptions, runProbes } from "hookproof/probes";
import { type LocalListener, startListeners } from "hookproof-service";

export const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";

/** A listener that can be probed, and how often it ran its automation. */
export interface Probed {
  readonly target: ProbeTarget;
  runs(): number;
  stop(): Promise<void>;
}

/** Our own listener with the HMAC method, by the machine's clock unless there is another one. */
export function startHmac(clock?: Clock): Promise<Probed> {
  return start(clock, (baseUrl) => ({
    auth: { method: "hmac", secret: SECRET },
    target: { url: `${baseUrl}/api/v1/webhooks/incoming/lst_hmac`, auth: { method: "hmac", secret: SECRET } },
    id: "lst_hmac",
  }));
}

/** Our own listener with the JWT method, for one key. */
export function startJwt(key: KeyRecord, clock?: Clock): Promise<Probed> {
  const { kid, alg } = key;
  return start(clock, (baseUrl) => ({
    auth: { method: "jwt", keys: localKeys({ keys: [key.publicJwk] }) },
    target: {
      url: `${baseUrl}/api/v1/webhooks/incoming/lst_jwt`,
      auth: { method: "jwt", key: key.privateJwk, kid, alg },
    },
    id: "lst_jwt",
  }));
}

type Auth = LocalListener["listener"]["auth"];

async function start(
  clock: Clock | undefined,
  setup: (baseUrl: string) => { id: string; auth: Auth; target: ProbeTarget },
): Promise<Probed> {
  let target: ProbeTarget | undefined;
  let runs = 0;
  const server = await startListeners({
    listeners: (baseUrl) => {
      const { id, auth, target: probed } = setup(baseUrl);
      target = probed;
      return [{ listener: { id, baseUrl, auth }, clock, run: async () => void runs++ }];
    },
  });
  if (!target) throw new Error("no listener was asked for");
  return { target, runs: () => runs, stop: () => server.stop() };
}

/** All results of a run. */
export async function resultsOf(target: ProbeTarget, options?: RunProbesOptions): Promise<ProbeResult[]> {
  const results: ProbeResult[] = [];
  for await (const result of runProbes(target, { wait: async () => {}, ...options })) results.push(result);
  return results;
}

/** What a test compares: the ids of one outcome, or of several. */
export function idsOf(results: readonly ProbeResult[], ...outcomes: ProbeResult["outcome"][]): string[] {
  return results.filter(({ outcome }) => outcomes.includes(outcome)).map(({ id }) => id);
}
