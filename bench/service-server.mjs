// One server of the service bench, in a process of its own: node service-server.mjs <kind> <file>
import express from "express";
import { createService } from "hookproof-service";
import LibSql from "libsql";

const [kind, file] = process.argv.slice(2);

/** The queries of the service's own reads, behind nothing but express. */
function bare() {
  const db = new LibSql(file);
  const config = db.prepare("SELECT document FROM auth_configs WHERE id = ?");
  const credentials = db.prepare(`SELECT document FROM tunnel_credentials
    WHERE bridge_id = ? AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`);
  const users = db.prepare(`SELECT u.document FROM cohort_members m JOIN users u ON u.id = m.user_id
    WHERE m.suggestion_id = ? AND (m.display_name, m.user_id) > (?, ?)
    ORDER BY m.display_name, m.user_id LIMIT ?`);
  const owner = db.prepare(`SELECT o.created_at, e.document FROM entitlement_owners o
    JOIN entitlements e ON e.app_id = o.entitlement_app_id AND e.id = o.entitlement_id
    WHERE o.app_id = ? AND o.role_slug = ? AND o.entitlement_app_id = ? AND o.entitlement_id = ?`);
  const owners = db.prepare(`SELECT o.role_slug, o.user_id, o.created_at, u.document
    FROM app_user_owners o JOIN users u ON u.id = o.user_id
    WHERE o.app_id = ? AND o.app_user_id = ? AND (o.created_at, o.user_id, o.role_slug) > (?, ?, ?)
    ORDER BY o.created_at, o.user_id, o.role_slug LIMIT ?`);
  const read = (rows) => rows.map(({ document }) => JSON.parse(document));

  const app = express();
  app.get("/api/v1/auth-configs/:id", (req, res) => {
    res.json({ authConfig: read(config.all(req.params.id))[0] });
  });
  app.get("/api/v1/iam/tunnel/bridges/:id/credentials", (req, res) => {
    res.json({ list: read(credentials.all(req.params.id, -1, "", 26)).slice(0, 25), nextPageToken: "" });
  });
  app.post("/api/v1/role-mining/suggestions/:id/users", express.json(), (req, res) => {
    const list = read(users.all(req.params.id, "", "", (req.body.pageSize ?? 25) + 1)).slice(0, 25);
    res.json({ list, nextPageToken: "", usersWithCoverage: [] });
  });
  app.get("/api/v2/apps/:app/owners/entitlements/:role/:ofApp/:id", (req, res) => {
    const { app: appId, role: roleSlug, ofApp, id } = req.params;
    const [appEntitlement] = read(owner.all(appId, roleSlug, ofApp, id));
    res.json({ appOwnerEntitlement: { appEntitlement, appId, roleSlug } });
  });
  app.get("/api/v2/apps/:app/users/:user/owners/users", (req, res) => {
    const rows = owners.all(req.params.app, req.params.user, -1, "", "", 26).slice(0, 25);
    const list = rows.map((row) => ({ userId: row.user_id, user: JSON.parse(row.document) }));
    res.json({ list, nextPageToken: "" });
  });
  const server = app.listen(0, "127.0.0.1", () => process.send({ port: server.address().port, token: "" }));
}

if (kind === "bare express") bare();
else {
  const service = await createService({ db: file });
  process.send({ port: service.port, token: await service.token() });
}
process.once("disconnect", () => process.exit());
