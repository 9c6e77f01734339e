// Advice that several codes share, in the words of each surface.

export const ITS_WAIT = "Nothing to do: the outbox sends the event again by itself, with the same id.";
/** What dead letters need after all that may be wrong with a listener. */
export const REDRIVE = "then redrive the event: a dead letter is not sent again by itself.";
export const ITS_REDRIVE = `See whether the listener is well, ${REDRIVE}`;

export const CHECK_CONNECTION =
  "Run hookproof doctor <url>: it checks name, connection, certificate and clock.";
export const VERIFY = {
  library: "Capture the request and call diagnose of hookproof/diagnose: it names the mistake.",
  command: "Look for the sender's mistake: hookproof events export last | hookproof verify -",
  outbox:
    "Compare the listener's secret or key with the one in its settings; the outbox goes on trying, so that an event is not lost meanwhile.",
  dead: `Compare the listener's secret or key with the one in its settings, ${REDRIVE}`,
};
export const SIGN_FOR_LISTENER = {
  library: "Sign at every attempt, for the listener's exact URL; diagnose shows both values.",
  command:
    "Sign at every attempt, for the listener's exact URL; hookproof verify <capture> --jwks <url> --url <listener url> shows both values.",
  outbox: "Correct the listener's URL: a token is signed for it at every attempt.",
  dead: `Correct the listener's URL, ${REDRIVE}`,
};
export const CHECK_KEY_SET = {
  library: "Run hookproof jwks check <url>.",
  command: "Run hookproof jwks check <url>.",
  outbox: "Check the host of the sender's key set; the outbox goes on trying.",
  dead: `Check the host of the sender's key set, ${REDRIVE}`,
};
export const SAME_ID = {
  library: "Send it again with the same id: 409 means that it had arrived.",
  command: "hookproof replay last sends it again with the same id: 409 means that it had arrived.",
  outbox: `${ITS_WAIT} 409 counts as delivered.`,
  dead: `${ITS_REDRIVE} 409 counts as delivered.`,
};
export const LATER = {
  library: "Send it again later with the same id.",
  command: "Send it again later with the same id: hookproof replay last.",
  outbox: ITS_WAIT,
  dead: ITS_REDRIVE,
};
export const GIVE_KEYS = alsoDead(
  "Give the worker every key that stored events were encrypted with",
  "; it then tries the event again by itself.",
);
export const PROXY = alsoDead(
  "Check HTTPS_PROXY and NO_PROXY; the status in the message is the proxy's",
  ". Retries continue by themselves.",
);
export const REDIRECT = alsoDead(
  "Use the final URL; the usual reasons are http://, a missing www, and a login or maintenance page in front",
  ". An outbox waits meanwhile.",
);

/** A text that is the same everywhere but for dead letters, for which nothing goes on. */
function alsoDead(what: string, going: string) {
  const text = what + going;
  return { library: text, command: text, dead: `${what}; ${REDRIVE}` };
}
