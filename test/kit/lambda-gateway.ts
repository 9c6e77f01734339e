import type { RequestListener } from "node:http";
import type { LambdaRequest, LambdaResponse } from "hookproof/receiver";

/**
 * What a Lambda function URL does with a request: names in lower case, values of one name joined with a comma,
 * text bodies as text and others as base64.
 */
export function lambdaGateway(
  handler: (request: LambdaRequest) => Promise<LambdaResponse>,
  isBase64Encoded: boolean,
): RequestListener {
  return async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers: Record<string, string> = {};
    for (const [name, values] of Object.entries(request.headersDistinct))
      headers[name.toLowerCase()] = (values ?? []).join(",");
    const answer = await handler({
      version: "2.0",
      rawPath: request.url ?? "/",
      headers,
      body: Buffer.concat(chunks).toString(isBase64Encoded ? "base64" : "utf8"),
      isBase64Encoded,
      requestContext: { http: { method: request.method ?? "", sourceIp: "203.0.113.7" } },
    });
    response.writeHead(answer.statusCode, answer.headers).end(answer.body);
  };
}
