// Finds everything that is wrong with an automation before it is saved.
import { type KeySetUrlRules, remoteKeys } from "hookproof/jwks";
import { createReceiver, type ListenerOptions, type Receiver } from "hookproof/receiver";
import type { FieldViolation } from "../api/errors.js";
import type { AutomationInput } from "./automation.js";
import type { Expressions } from "./expressions.js";
import type { Step } from "./run-steps.js";
import type { StepFailure } from "./step-failure.js";
import { parseTemplates, TemplateError, type TemplateExpression } from "./template.js";

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
/** What `ctx.<name>` cannot be followed by, and the event's own place. */
const TAKEN = new Set(["trigger", "in", "true", "false", "null"]);
const MAX_EXPRESSION_LENGTH = 2_000;
const MAX_EXPRESSIONS = 200;

/** Everything that is wrong with an automation whose form is right: key set, ranges, names, templates, CEL. */
export async function checkAutomation(
  { trigger: { hmac, jwt }, allowedCidrs, steps }: AutomationInput,
  expressions: Expressions,
  keySets: KeySetUrlRules,
): Promise<FieldViolation[]> {
  return [
    ...((hmac === undefined) === (jwt === undefined)
      ? [{ field: "trigger", description: "must have one of hmac and jwt" }]
      : []),
    ...(jwt ? problemsOf("trigger.jwt.jwksUrl", () => remoteKeys(jwt.jwksUrl, keySets)) : []),
    ...allowedCidrs.flatMap((cidr, index) =>
      problemsOf(`allowedCidrs[${index}]`, () => anyReceiver({ allowedCidrs: [cidr] })),
    ),
    ...nameProblems(steps),
    ...(await expressionProblems(steps, expressions)),
  ];
}

/** What is wrong with a field that something cannot be made of. */
export function problemsOf(field: string, make: () => unknown): FieldViolation[] {
  try {
    make();
    return [];
  } catch (error) {
    return [{ field, description: (error as Error).message }];
  }
}

/** A receiver with one thing to be checked: it takes what a real one will take. */
export function anyReceiver(
  change: Partial<ListenerOptions>,
  trustedProxies?: readonly string[] | undefined,
): Receiver {
  const auth = { method: "hmac", secret: "any" } as const;
  const listener = { id: "any", baseUrl: "http://localhost", auth, ...change };
  return createReceiver({ listener, trustedProxies });
}

/** Where key sets may be: at public addresses over HTTPS, or, for development, on this machine and near it too. */
export function keySetRules(allowInsecure: boolean): KeySetUrlRules {
  return { allowInsecureLoopback: allowInsecure, allowPrivateNetwork: allowInsecure };
}

function nameProblems(steps: readonly Step[]): FieldViolation[] {
  const seen = new Set(TAKEN);
  return steps.flatMap(({ name }, index) => {
    const field = `steps[${index}].name`;
    if (!NAME.test(name))
      return [{ field, description: "must be 1 to 64 letters, digits and _, and not begin with a digit" }];
    if (seen.has(name)) return [{ field, description: `${name} is taken` }];
    seen.add(name);
    return [];
  });
}

async function expressionProblems(
  steps: readonly Step[],
  expressions: Expressions,
): Promise<FieldViolation[]> {
  const problems: FieldViolation[] = [];
  const names = steps.map(({ name }) => name);
  const found = steps.flatMap((step, index) => {
    const stepNames = names.slice(0, index);
    return expressionsOf(step, `steps[${index}]`, problems).map((each) => ({ ...each, stepNames }));
  });
  if (found.length > MAX_EXPRESSIONS)
    return [{ field: "steps", description: `have more than ${MAX_EXPRESSIONS} expressions` }];
  for (const { path, expression, stepNames } of found) {
    if (expression.length > MAX_EXPRESSION_LENGTH) {
      problems.push({ field: path, description: `is longer than ${MAX_EXPRESSION_LENGTH} characters` });
      continue;
    }
    const checked = await expressions.check(expression, stepNames);
    if (!checked.ok) problems.push({ field: path, description: problemOf(checked.failure) });
  }
  return problems;
}

/** The mistakes with their places in the expression, or why it could not be read. */
function problemOf({ code, message }: StepFailure): string {
  return code === "EXPRESSION_INVALID" ? `is wrong at ${message}` : `cannot be checked: ${message}`;
}

/** The expressions of a step with their paths; what is wrong with its templates is added to the problems. */
function expressionsOf(step: Step, at: string, problems: FieldViolation[]): TemplateExpression[] {
  const { condition } = step;
  const conditions = condition === "" ? [] : [{ path: `${at}.condition`, expression: condition }];
  try {
    const inTemplates = parseTemplates(step.templates).expressions;
    return [
      ...conditions,
      ...inTemplates.map(({ path, expression }) => ({ path: `${at}.templates.${path}`, expression })),
    ];
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    problems.push({ field: `${at}.templates.${error.path}`, description: error.message });
    return conditions;
  }
}
