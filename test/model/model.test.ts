import { readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { itWith } from "../kit/needs.js";
import { hasTools } from "../kit/outside-tool.js";
import { checked, MODEL } from "./checked.js";

const spin = hasTools("spin and gcc");
const page = readFileSync(new URL("../../docs/proof.md", import.meta.url), "utf8");

describe("the model of a delivery, every state of it", () => {
  itWith("spin and gcc", spin)("runs once, in order, and loses nothing, with four faults anywhere", () => {
    const [report = ""] = checked(MODEL, 4, "assertions");
    expect(report).toContain("errors: 0");
    expect(report).not.toContain("depth too small");
    const [, states = ""] = /(\d+) states, stored/.exec(report) ?? [];
    expect(page).toContain(`${Number(states).toLocaleString("en-US")} states`);
  });

  const broken: readonly (readonly [what: string, text: string, instead: string])[] = [
    ["the fence out of reschedule", "phase[i] == UNKNOWN && HOLDS(w, e))", "phase[i] == UNKNOWN)"],
    ["a lease that ends when it begins", "live[e] = true; right[i] = true", "right[i] = true"],
    ["no order of a key", "(!live[1 - e] && (e == 0 || !parked))", "(true)"],
    ["a receiver that forgets", "memory[e] = COMMITTED;", "memory[e] = FREE;"],
  ];
  itWith("spin and gcc", spin).each(broken)("would see %s", (_what, text, instead) => {
    expect(MODEL.split(text)).toHaveLength(2);
    const [report] = checked(
      MODEL.replace(text, () => instead),
      3,
      "assertions",
    );
    expect(report).toContain("assertion violated");
  });
});
