// Every parser of strangers' bytes, by name.
import type { Parser } from "./parser.js";
import { CAPTURE_PARSERS } from "./parsers/captures.js";
import { COMMAND_PARSERS } from "./parsers/command.js";
import { KEY_PARSERS } from "./parsers/keys.js";
import { REQUEST_PARSERS } from "./parsers/requests.js";
import { SERVICE_PARSERS } from "./parsers/service.js";

export const PARSERS: readonly Parser[] = [
  ...REQUEST_PARSERS,
  ...KEY_PARSERS,
  ...CAPTURE_PARSERS,
  ...COMMAND_PARSERS,
  ...SERVICE_PARSERS,
];
