// The environment of a test run: what a user's shell has set for other programs does not reach what tests start.

/** Who and where the user is, and what the machine needs to run programs and to trust certificates. */
const OF_THE_MACHINE =
  /^(?:PATH|HOME|USER|LOGNAME|TMPDIR|LANG|LC_\w+|TZ|CI|JAVA_HOME|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|npm_config_registry|npm_config_cafile)$/i;

/** What is set on purpose for a run, and what vitest and Stryker tell their workers. */
const OF_THE_RUN =
  /^(?:HOOKPROOF_(?:SEED|LONG|SCREENSHOTS|GENERATE|MAY_SKIP|OUTCOME|TEST_RUN)|TEST_(?:DATABASE|REDIS)_URL|MUTATION_ROOM|VITEST\w*|(?:__)?STRYKER\w*)$/;

/** On Windows programs need these. */
const OF_WINDOWS =
  /^(?:SystemRoot|SystemDrive|ComSpec|PATHEXT|TEMP|TMP|USERPROFILE|APPDATA|LOCALAPPDATA|ProgramFiles.*)$/i;

/**
 * Takes all else out of `env`: colours, proxies, options of Node, `HOOKPROOF_` settings, what `npm run` adds. Without it
 * `FORCE_COLOR` colours what a test reads from its child, and `HTTP_PROXY` leads its requests elsewhere. Tests that install
 * packages reach the registry through the user's proxy all the same.
 */
export function cleanEnvironment(env: NodeJS.ProcessEnv): void {
  const proxy = env.HTTPS_PROXY ?? env.https_proxy ?? env.HTTP_PROXY ?? env.http_proxy;
  for (const name of Object.keys(env)) {
    if (![OF_THE_MACHINE, OF_THE_RUN, OF_WINDOWS].some((kept) => kept.test(name))) delete env[name];
  }
  env.NODE_ENV = "test";
  if (proxy) env.npm_config_https_proxy = proxy;
}
