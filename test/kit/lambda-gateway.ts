import type { IncomingMessage, RequestListener } from "node:http";
import type { LambdaRequest, LambdaResponse } from "hookproof/receiver";

/** What stands in front of a function on AWS: each hands over a request, and reads an answer, in a form of its own. */
export type LambdaFront = "function URL" | "REST API" | "load balancer" | "load balancer with lists";

const CLIENT = "203.0.113.7";

/** What AWS does with a request for a function, as its documentation has the forms of events and answers. */
export function lambdaGateway(
  handler: (request: LambdaRequest) => Promise<LambdaResponse>,
  isBase64Encoded: boolean,
  front: LambdaFront = "function URL",
): RequestListener {
  return async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString(isBase64Encoded ? "base64" : "utf8");
    const event = FRONTS[front](request);
    const answer = await handler({ ...event, body, isBase64Encoded } as unknown as LambdaRequest);
    response.writeHead(answer.statusCode, headersRead(front, answer)).end(answer.body);
  };
}

const FRONTS: Readonly<Record<LambdaFront, (request: IncomingMessage) => object>> = {
  "function URL": (request) => ({
    version: "2.0",
    rawPath: request.url ?? "/",
    headers: mapped(lists(request), (values) => values.join(",")),
    requestContext: { http: { method: request.method ?? "", sourceIp: CLIENT } },
  }),
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
  "REST API": (request) => ({
    resource: "/{proxy+}",
    path: request.url,
    httpMethod: request.method,
    headers: mapped(lists(request), (values) => values.at(-1)),
    multiValueHeaders: lists(request),
    queryStringParameters: null,
    requestContext: { stage: "prod", identity: { sourceIp: CLIENT } },
  }),
  // https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html
  "load balancer": (request) => ({
    ...balanced(request),
    headers: mapped(forwarded(request), (values) => values.at(-1)),
  }),
  "load balancer with lists": (request) => ({
    ...balanced(request),
    multiValueHeaders: forwarded(request),
  }),
};

function balanced(request: IncomingMessage): object {
  const arn = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/hooks/6d0ecf831eec9f09";
  return { requestContext: { elb: { targetGroupArn: arn } }, httpMethod: request.method, path: request.url };
}

/** A load balancer appends the address that it saw. */
function forwarded(request: IncomingMessage): Record<string, string[]> {
  const before = request.headersDistinct["x-forwarded-for"] ?? [];
  return { ...lists(request), "x-forwarded-for": [[...before, CLIENT].join(", ")] };
}

function lists(request: IncomingMessage): Record<string, string[]> {
  return mapped(request.headersDistinct as Record<string, string[]>, (values) => values);
}

function mapped<Value>(headers: Record<string, string[]>, change: (values: string[]) => Value) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [name.toLowerCase(), change(values)]),
  );
}

/** Which header lines of an answer get to the client: a load balancer reads one form only. */
function headersRead(front: LambdaFront, { headers, multiValueHeaders }: LambdaResponse) {
  if (front === "load balancer with lists") return multiValueHeaders ?? {};
  return front === "load balancer" ? headers : { ...headers, ...multiValueHeaders };
}
