import type { HeadersInput } from "hookproof";
import { diagnose, type Mistake, type OtherScheme } from "hookproof/diagnose";

type Input = Parameters<typeof diagnose>[0];
type Known<Name extends OtherScheme> = Omit<Extract<Input, { scheme: Name }>, "scheme" | "request" | "clock">;

/** The mistakes of a request of another scheme than the default one, at a time in Unix seconds. */
export async function mistakesOf<Name extends OtherScheme>(
  scheme: Name,
  given: Known<Name> & { headers?: HeadersInput; body: string | Uint8Array; nowSeconds?: number | undefined },
): Promise<readonly Mistake[]> {
  const { headers, body, nowSeconds, ...known } = given;
  const clock = nowSeconds === undefined ? {} : { clock: { now: () => nowSeconds * 1000 } };
  const input = { ...known, scheme, request: { headers, body }, ...clock } as unknown as Input;
  return (await diagnose(input)).mistakes;
}
