// A product with many tenants. Each has a listener of its own: a row of a table, with its secrets encrypted. Tenants are
// added, changed and removed while any number of workers deliver. docs/guides/many-tenants.md runs this program.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import pg from "pg";

// Not in the database: anyone who reads only the database, or a copy of it, must not get the secrets.
const key = Buffer.from(process.env.TENANT_KEY ?? "", "base64");
if (key.length !== 32) throw new Error("TENANT_KEY is missing: 32 bytes in base64, from your vault.");

const connectionString = process.env.DATABASE_URL ?? "postgres://localhost/app";
const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5_000 });

const outbox = createOutbox({ store: postgresStore({ pool }), listeners: listenerOf });

/** A worker calls it before it delivers to a tenant, and keeps the answer for a minute or until `forget`. */
async function listenerOf(tenant) {
  const { rows } = await pool.query("SELECT url, secrets FROM tenants WHERE name = $1", [tenant]);
  if (rows.length === 0) return undefined; // its events wait
  return {
    url: rows[0].url,
    signer: hmacSigner({ secret: decrypted(tenant, rows[0].secrets) }),
    concurrency: 4, // of all workers together
    rate: { perSecond: 50 },
    // Tenants choose their URLs. Without this, one could name an address inside your network.
    allowPrivateNetwork: false,
    allowedCidrs: process.env.ALLOWED_CIDRS?.split(","),
  };
}

/** The tenant's name is authenticated too, so that a copy of the row serves no other tenant. */
function encrypted(tenant, secrets) {
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(tenant));
  return Buffer.concat([iv, cipher.update(JSON.stringify(secrets)), cipher.final(), cipher.getAuthTag()]);
}

function decrypted(tenant, bytes) {
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12), { authTagLength: 16 })
    .setAAD(Buffer.from(tenant))
    .setAuthTag(bytes.subarray(-16));
  return JSON.parse(Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString());
}

const secretGiven = async () => (await text(process.stdin)).trim(); // no argument: others can read those

const commands = {
  async setup() {
    await pool.query(`
      CREATE TABLE tenants (name text PRIMARY KEY, url text NOT NULL, secrets bytea NOT NULL);
      CREATE TABLE invoices (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL)`);
  },

  async work() {
    outbox.start();
    console.log("working");
    await once(process, "SIGTERM");
    await outbox.stop();
  },

  async add(tenant, url) {
    const secrets = encrypted(tenant, [await secretGiven()]);
    await pool.query("INSERT INTO tenants VALUES ($1, $2, $3)", [tenant, url, secrets]);
    await outbox.forget(tenant); // events that came before it are delivered now
    console.log(`${tenant}: added`);
  },

  async rotate(tenant) {
    const { rows } = await pool.query("SELECT secrets FROM tenants WHERE name = $1", [tenant]);
    const [old] = decrypted(tenant, rows[0].secrets);
    const secrets = encrypted(tenant, [await secretGiven(), old]); // a listener that still has the old one gets that
    await pool.query("UPDATE tenants SET secrets = $2 WHERE name = $1", [tenant, secrets]);
    await outbox.forget(tenant); // every worker asks again before it delivers more to this tenant
    console.log(`${tenant}: rotated`);
  },

  async remove(tenant) {
    await pool.query("DELETE FROM tenants WHERE name = $1", [tenant]);
    await outbox.forget(tenant);
    console.log(`${tenant}: removed`);
  },

  async pause(tenant, reason) {
    await outbox.pause(tenant, { reason });
    console.log(`${tenant}: paused`);
  },

  async resume(tenant) {
    console.log(`${tenant}: ${(await outbox.resume(tenant)) ? "resumed" : "was not paused"}`);
  },

  async invoice(tenant, count = "1") {
    for (let n = 0; n < Number(count); n++) await invoice(tenant);
    console.log(`${tenant}: invoiced`);
  },

  async traffic(tenant) {
    let isOn = true;
    process.once("SIGTERM", () => {
      isOn = false;
    });
    console.log(`${tenant}: an invoice every 50 ms`);
    while (isOn) {
      await invoice(tenant);
      await sleep(50);
    }
  },

  async remind(tenant, seconds) {
    const deliverAt = new Date(Date.now() + Number(seconds) * 1000);
    await outbox.enqueue({ listener: tenant, payload: { type: "invoice.reminder" }, deliverAt });
    console.log(`${tenant}: a reminder at ${deliverAt.toISOString()}`);
  },

  async cancel(tenant) {
    const { cancelled, tooLate } = await outbox.cancel({ listener: tenant });
    console.log(`${tenant}: ${cancelled} cancelled, ${tooLate} too late`);
  },
};

/** The invoice and its event are stored together or not at all. */
async function invoice(tenant) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const { rows } = await client.query("INSERT INTO invoices (tenant) VALUES ($1) RETURNING id", [tenant]);
    const payload = { type: "invoice.created", invoice: rows[0].id };
    await outbox.enqueue({ listener: tenant, payload }, { tx: client });
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

const [command = "", ...args] = process.argv.slice(2);
if (!Object.hasOwn(commands, command))
  throw new Error(`One of ${Object.keys(commands).join(", ")} is missing.`);
await commands[command](...args);
await outbox[Symbol.asyncDispose]();
await pool.end();
