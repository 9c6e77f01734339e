// Reads the two headers of HTTP message signatures.
import {
  type Dictionary,
  type InnerList,
  type Item,
  parseDictionary,
  serializeInnerList,
} from "structured-headers";
import { encodeBase64 } from "#hash";

/** One signature of a request (RFC 9421 section 4), with what it covers. */
export interface ReadSignature {
  /** The names of the covered components; `undefined` for one with parameters, which this profile does not know. */
  readonly names: readonly (string | undefined)[];
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Names and parameters as they are signed: the value of `@signature-params`. */
  readonly shown: string;
  /** The signature itself, in base64. */
  readonly signature: string;
}

/**
 * The signatures that have their input, in the order of `Signature-Input`; `undefined` if a value is no dictionary (RFC
 * 9651), or has more members than `max`.
 */
export function readSignatures(
  input: string,
  signature: string,
  max: number,
): readonly ReadSignature[] | undefined {
  const plain = readPlain(input, signature);
  return plain ? [plain] : readAny(input, signature, max);
}

/** A label, texts in brackets, and parameters that are texts or whole numbers. */
const INPUT =
  /^([a-z*][a-z0-9_*.-]*)=(\(("[ !#-[\]-~]*"(?: "[ !#-[\]-~]*")*)\)((?:;[a-z*][a-z0-9_*.-]*=(?:"[ !#-[\]-~]*"|0|[1-9][0-9]{0,14}))+))$/;

/** A label, and base64 whose last character has no bits to spare. */
const SIGNATURE =
  /^([a-z*][a-z0-9_*.-]*)=:((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?):$/;

/**
 * One signature in the form that senders write: names without parameters, texts without escapes, whole numbers. What is
 * read so is what the library reads, and is written as it came; anything else is left to the library, which takes 18 µs
 * for both values and to write them again, three times as long as the HMAC.
 */
function readPlain(input: string, signature: string): ReadSignature | undefined {
  const [, label, shown = "", names = "", rest = ""] = INPUT.exec(input) ?? [];
  const [, other, base64 = ""] = SIGNATURE.exec(signature) ?? [];
  if (label === undefined || label !== other) return undefined;
  const parameters = parametersOf(rest);
  return parameters && { names: names.slice(1, -1).split('" "'), parameters, shown, signature: base64 };
}

/** The parameters of a plain input; `undefined` if one stands twice. */
function parametersOf(text: string): Readonly<Record<string, string | number>> | undefined {
  const found: Record<string, string | number> = {};
  for (let at = 0; at < text.length; ) {
    const value = text.indexOf("=", at) + 1;
    const key = text.slice(at + 1, value - 1);
    if (Object.hasOwn(found, key)) return undefined;
    const isText = text[value] === '"';
    const end = isText ? text.indexOf('"', value + 1) : text.indexOf(";", value);
    const stop = end < 0 ? text.length : end;
    found[key] = isText ? text.slice(value + 1, stop) : Number(text.slice(value, stop));
    at = isText ? stop + 1 : stop;
  }
  return found;
}

function readAny(input: string, signature: string, max: number): readonly ReadSignature[] | undefined {
  try {
    const [inputs, signatures] = [parseDictionary(input), parseDictionary(signature)];
    if (inputs.size > max || signatures.size > max) return undefined;
    return [...inputs].flatMap(([label, list]) => {
      const bytes = signatures.get(label)?.[0];
      if (!isInnerList(list) || !(bytes instanceof ArrayBuffer)) return [];
      const names = list[0].map(([name, own]) =>
        typeof name === "string" && own.size === 0 ? name : undefined,
      );
      const parameters = Object.fromEntries(list[1]);
      const text = encodeBase64(new Uint8Array(bytes));
      return [{ names, parameters, shown: serializeInnerList(list), signature: text }];
    });
  } catch {
    return undefined;
  }
}

export function isInnerList(member: Item | InnerList): member is InnerList {
  return Array.isArray(member[0]);
}

/** A header that is a dictionary (RFC 8941); `undefined` for another text. */
export function dictionaryOf(text: string): Dictionary | undefined {
  try {
    return parseDictionary(text);
  } catch {
    return undefined;
  }
}
