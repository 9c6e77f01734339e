// Advice that several codes share, in the words of each surface.

export const ITS_WAIT = "Nothing to do: the outbox sends the event again by itself, with the same id.";

export const CHECK_CONNECTION =
  "Run hookproof doctor <url>: it checks name, connection, certificate and clock.";
export const VERIFY = {
  library: "Capture the request and call diagnose of hookproof/diagnose: it names the mistake.",
  command: "Look for the sender's mistake: hookproof events export last | hookproof verify -",
  outbox:
    "Compare the listener's secret or key with the one in its settings; the outbox goes on trying, so that an event is not lost meanwhile.",
};
export const SIGN_FOR_LISTENER = {
  library: "Sign at every attempt, for the listener's exact URL; diagnose shows both values.",
  command:
    "Sign at every attempt, for the listener's exact URL; hookproof verify <capture> --jwks <url> shows both values.",
  outbox: "Correct the listener's URL: a token is signed for it at every attempt.",
};
export const CHECK_KEY_SET = {
  library: "Run hookproof jwks check <url>.",
  command: "Run hookproof jwks check <url>.",
  outbox: "Check the host of the sender's key set; the outbox goes on trying.",
};
export const SAME_ID = {
  library: "Send it again with the same id: 409 means that it had arrived.",
  command: "hookproof replay last sends it again with the same id: 409 means that it had arrived.",
  outbox: `${ITS_WAIT} 409 counts as delivered.`,
};
export const LATER = {
  library: "Send it again later with the same id.",
  command: "Send it again later with the same id: hookproof replay last.",
  outbox: ITS_WAIT,
};
