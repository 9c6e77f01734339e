import { createService, type Service, type ServiceOptions, type TokenOptions } from "hookproof-service";
import createClient, { type Client } from "openapi-fetch";
import { onTestFinished } from "vitest";
import type { paths } from "../../service/src/api/openapi.js";
import { FIXTURE } from "./fixture.js";

/** A service with one of everything, stopped after the test. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const service = await createService({ fixture: FIXTURE, validateAnswers: true, ...options });
  onTestFinished(() => service.stop());
  return service;
}

/** A client generated from the OpenAPI document, with a token. */
export async function clientOf(
  service: Pick<Service, "url" | "token">,
  whom?: TokenOptions,
): Promise<Client<paths>> {
  const Authorization = `Bearer ${await service.token(whom)}`;
  return createClient<paths>({ baseUrl: service.url, headers: { Authorization } });
}

/** What a plain request was answered with. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it likes
  body: any;
}

/** Sends a request with a Super Admin's token unless it has its own header; a body that is no text is sent as JSON. */
export async function ask(
  service: Service,
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const authorization = { Authorization: `Bearer ${await service.token()}` };
  const type = body === undefined ? {} : { "Content-Type": "application/json" };
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { ...authorization, ...type, ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

/** Asks the remote control, with its token. */
export function askControl(service: Service, method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = { Authorization: `Bearer ${service.controlToken}` };
  return ask(service, method, `/local/v1/${path}`, { body, headers });
}
