import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** What the official image of PostgreSQL makes of its variables, as far as compose.yaml uses them. */
const ENTRYPOINT = `#!/bin/sh
set -eu
bin=$(echo /usr/lib/postgresql/*/bin)
data=/var/lib/postgresql/data
if [ ! -e "$data/PG_VERSION" ]; then
  install -d -o postgres -m 700 "$data"
  install -o postgres -m 600 "$POSTGRES_PASSWORD_FILE" /tmp/password
  setpriv --reuid postgres --regid postgres --clear-groups "$bin/initdb" -D "$data" -U postgres \\
    --auth-local trust --auth-host scram-sha-256 --pwfile /tmp/password > /dev/null
  rm /tmp/password
  echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_DB" | setpriv --reuid postgres --regid postgres --clear-groups \\
    "$bin/postgres" --single -j -D "$data" postgres > /dev/null
fi
exec setpriv --reuid postgres --regid postgres --clear-groups "$bin/postgres" -D "$data" -h '*'
`;

/**
 * Makes the images that cannot be pulled: `hookproof-test/node`, Debian with this machine's Node and npm in the place of
 * `node:…-bookworm-slim`, and `hookproof-test/postgres`, with Debian's PostgreSQL.
 */
export function debianImages(folder: string, env: NodeJS.ProcessEnv): void {
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  const root = join(folder, "root");
  run(
    "debootstrap",
    "--variant=minbase",
    "--include=postgresql",
    "bookworm",
    root,
    "http://deb.debian.org/debian",
  );
  mkdirSync(join(root, "etc/ssl/certs"), { recursive: true });
  copyFileSync(CERTIFICATES, join(root, CERTIFICATES));
  const local = join(root, "usr/local");
  copyFileSync(process.execPath, join(local, "bin/node"));
  const npm = dirname(dirname(realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim())));
  cpSync(npm, join(local, "lib/node_modules/npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(local, "bin/npm"));
  writeFileSync(join(local, "bin/postgres-entrypoint"), ENTRYPOINT, { mode: 0o755 });

  const context = join(folder, "context");
  mkdirSync(context);
  run("tar", "--exclude=./var/cache/apt/archives/*", "-C", root, "-cf", join(context, "root.tar"), ".");
  const build = (name: string, lines: readonly string[]) => {
    const file = join(folder, `${name}.Dockerfile`);
    writeFileSync(file, `${lines.join("\n")}\n`);
    run("docker", "build", "--quiet", "--tag", `hookproof-test/${name}`, "--file", file, context);
  };
  build("node", ["FROM scratch", "ADD root.tar /", `ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}`]);
  build("postgres", [
    "FROM hookproof-test/node",
    "ENV PGHOST=/var/run/postgresql PGPORT=5432", // Debian's psql would take those of Debian's own cluster
    'ENTRYPOINT ["postgres-entrypoint"]',
  ]);
}
