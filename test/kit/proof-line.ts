import type { HeaderPair, Signer, UnsignedRequest } from "hookproof";

/** The one header line that a signer of the default scheme proves a request with. */
export async function proofLine(signer: Signer, request: UnsignedRequest): Promise<HeaderPair> {
  const { headers, body } = await signer.sign(request);
  const [line, ...more] = headers;
  if (!line || more.length > 0 || body) throw new Error(`one line was expected: ${JSON.stringify(headers)}`);
  return line;
}
