// Apps and resource types in the database.
import type { Schemas } from "../api/validation.js";
import { type Database, first } from "./database.js";
import { createdAt, type Stored } from "./document.js";

type AppResourceType = Schemas["AppResourceType"];

/** An app's resource type (specification 2.3), and whether it may be updated. */
interface StoredResourceType {
  readonly resourceType: AppResourceType;
  readonly manuallyManaged: boolean;
}

/** Apps and their resource types. */
export interface ResourceTypes {
  addApp(app: { id: string; createdAt: number; displayName: string }): void;
  hasApp(id: string): boolean;
  add(type: StoredResourceType): void;
  get(appId: string, id: string): StoredResourceType | undefined;
  update(type: AppResourceType): void;
}

/** The apps and resource types of a database. */
export function resourceTypes(db: Database): ResourceTypes {
  const insertApp = db.prepare("INSERT INTO apps (id, created_at, display_name) VALUES (?, ?, ?)");
  const selectApp = db.prepare("SELECT 1 FROM apps WHERE id = ?");
  const insert = db.prepare(
    "INSERT INTO resource_types (app_id, id, created_at, manually_managed, document) VALUES (?, ?, ?, ?, ?)",
  );
  const select = db.prepare(
    "SELECT document, manually_managed FROM resource_types WHERE app_id = ? AND id = ?",
  );
  const update = db.prepare("UPDATE resource_types SET document = ? WHERE app_id = ? AND id = ?");
  return {
    addApp: ({ id, createdAt: at, displayName }) => void insertApp.all(id, at, displayName),
    hasApp: (id) => selectApp.all(id).length > 0,
    add({ resourceType: type, manuallyManaged }) {
      insert.all(type.appId, type.id, createdAt(type), Number(manuallyManaged), JSON.stringify(type));
    },
    get(appId, id) {
      const row = first<Stored & { manually_managed: number }>(select.all(appId, id));
      if (!row) return undefined;
      return {
        resourceType: JSON.parse(row.document) as AppResourceType,
        manuallyManaged: row.manually_managed === 1,
      };
    },
    update: (type) => void update.all(JSON.stringify(type), type.appId, type.id),
  };
}
