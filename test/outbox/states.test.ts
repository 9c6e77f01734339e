import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { STATES, shownState } from "../../src/outbox/engine.js";

it("PostgreSQL keeps the states of every store, and no others", () => {
  const tables = readFileSync(new URL("postgres/tables-1.sql", import.meta.url), "utf8");
  const [, words = ""] = /CHECK \(\(?state = ANY \(ARRAY\[(.+?)\]\)/.exec(tables) ?? [];
  expect([...words.matchAll(/'(\w+)'/g)].map(([, word]) => word)).toEqual([...STATES]);
});

it("all states in which an event waits are shown as pending", () => {
  expect(STATES.map(shownState)).toEqual([
    ...Array.from({ length: 5 }, () => "pending"),
    "in-flight",
    "delivered",
    "dead",
    "cancelled",
  ]);
});
