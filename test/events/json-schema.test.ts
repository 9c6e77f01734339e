import { Ajv2020 } from "ajv/dist/2020.js";
import { createSender, eventCatalogue, hmacSigner, type StandardSchema } from "hookproof";
import { expect, it } from "vitest";
import * as z from "zod";
import { SECRET } from "../kit/receiver-server.js";

const Category = z.strictObject({
  type: z.literal("category.moved"),
  name: z.string(),
  get under() {
    return z.array(z.strictObject({ name: z.string() })).default([]);
  },
});
const events = {
  "category.moved": Category,
  "user.changed": z.union([
    z.object({ type: z.literal("user.changed"), email: z.string() }),
    z.object({
      type: z.literal("user.changed"),
      phone: z
        .string()
        .transform((text) => text.trim())
        .pipe(z.string()),
    }),
  ]),
};

it("what a catalogue lets through is valid by its JSON Schema, as another library reads it", async () => {
  const ajv = new Ajv2020();
  const url = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1";
  const sender = createSender({ url, signer: hmacSigner({ secret: SECRET }), events });
  const exported = JSON.parse(JSON.stringify(eventCatalogue(events))) as Record<string, object>;
  expect(Object.keys(exported)).toEqual(["category.moved", "user.changed"]);
  for (const payload of [
    { type: "category.moved" as const, name: "a" },
    { type: "category.moved" as const, name: "a", under: [{ name: "b" }] },
    { type: "user.changed" as const, email: "a@example.com", gone: 1 },
    { type: "user.changed" as const, phone: " 1 " },
  ]) {
    const { body } = await sender.createEvent(payload);
    const validate = ajv.compile(exported[payload.type] ?? {});
    expect([validate(JSON.parse(new TextDecoder().decode(body))), validate.errors]).toEqual([true, null]);
    expect(validate({ ...payload, type: "another" })).toBe(false);
  }
});

it("is of the version that is asked for", () => {
  const schemaOf = (target: string) => eventCatalogue(events, { target })["category.moved"];
  expect(schemaOf("draft-07")).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#" });
  expect(schemaOf("draft-2020-12")).toMatchObject({
    $schema: "https://json-schema.org/draft/2020-12/schema",
  });
});

const plain = (extra: object = {}): StandardSchema => ({
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }), ...extra },
});

it("comes from a function of the caller's where the library has none", () => {
  const given: unknown[] = [];
  const schema = plain();
  const toJsonSchema = (one: StandardSchema) => {
    given.push(one);
    return { title: "mine" };
  };
  const exported = eventCatalogue({ x: schema, __proto__x: schema }, { toJsonSchema });
  expect(exported).toEqual({ x: { title: "mine" }, __proto__x: { title: "mine" } });
  expect(given).toEqual([schema, schema]);
});

it.each<[what: string, events: object, message: RegExp]>([
  ["no JSON Schema", { x: plain() }, /^events\["x"\] gives no JSON Schema: pass toJsonSchema/],
  [
    "nothing for one",
    { x: plain({ jsonSchema: { output: () => null } }) },
    /^events\["x"\] gives no JSON Schema/,
  ],
  ["a half of the interface", { x: plain({ jsonSchema: {} }) }, /^events\["x"\] cannot be expressed/],
  ["what it cannot express", { x: z.object({ at: z.date() }) }, /^events\["x"\] cannot be expressed.*Date/],
  ["no schema", { x: {} }, /^events\["x"\] must be a Standard Schema/],
  ["no events", {}, /^events must hold a schema/],
])("a library that gives %s is named", (_, catalogue, message) => {
  const error = (() => {
    try {
      eventCatalogue(catalogue as never);
    } catch (thrown) {
      return thrown as Error;
    }
    return undefined;
  })();
  expect(error).toBeInstanceOf(TypeError);
  expect(error?.message).toMatch(message);
});

it("what the library threw is the cause", () => {
  const cause = new Error("no dates");
  const toJsonSchema = () => {
    throw cause;
  };
  expect(() => eventCatalogue({ x: plain() }, { toJsonSchema })).toThrow(expect.objectContaining({ cause }));
});
