import { SETTING_NAMES, SETTINGS, type SettingRule } from "./settings.js";

/** The JSON Schema of a configuration file, for editors; `hookproof.schema.json` holds it. */
export function configSchema(): Record<string, unknown> {
  const settings = Object.fromEntries(SETTING_NAMES.map((name) => [name, schemaOf(SETTINGS[name])]));
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Configuration of hookproof",
    description:
      "References only: a secret is stored with hookproof secret set, or lies in a file that is named here.",
    type: "object",
    additionalProperties: false,
    properties: {
      $schema: { type: "string" },
      profile: {
        description: "the profile that is used when none is named",
        $ref: "#/definitions/profileName",
      },
      ...settings,
      profiles: {
        description: "settings of their own for several listeners; they come before the shared ones",
        type: "object",
        propertyNames: { $ref: "#/definitions/profileName" },
        additionalProperties: { type: "object", additionalProperties: false, properties: settings },
      },
    },
    definitions: {
      profileName: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" },
    },
  };
}

function schemaOf({ kind, describe: description, choices, fallback }: SettingRule): Record<string, unknown> {
  const common = { description, ...(fallback === undefined ? {} : { default: fallback }) };
  switch (kind) {
    case "number":
      return { ...common, type: "integer", minimum: 0, maximum: 999_999_999 };
    case "paths":
      return { ...common, type: "array", minItems: 1, items: { type: "string", minLength: 1 } };
    case "choice":
      return { ...common, enum: choices };
    case "duration":
      return { ...common, type: "string", pattern: "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$" };
    default:
      return { ...common, type: "string", minLength: 1 };
  }
}
