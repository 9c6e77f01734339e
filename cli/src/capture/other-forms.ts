// Names the forms of captures that cannot be read without guessing, each with the way to one that can.

interface OtherForm {
  readonly looks: RegExp;
  readonly is: string;
  readonly instead: string;
}

const FOLLOW = "In Wireshark: Follow, TCP Stream, show as Raw, save; or show as Hex Dump and save.";
const LISTEN = "Send it to hookproof listen, and export the request from the inspector.";

const FORMS: readonly OtherForm[] = [
  {
    looks: /^(?:\xd4\xc3\xb2\xa1|\xa1\xb2\xc3\xd4|M<\xb2\xa1|\n\r\r\n)/,
    is: "a file of packets (pcap)",
    instead: FOLLOW,
  },
  {
    looks: /^PK[^ -~]{2}/,
    is: "a zip archive, such as Fiddler's .saz",
    instead: "Unpack it, and give the request in it: raw/1_c.txt.",
  },
  {
    looks: /^[^ -~]\x8b/,
    is: "compressed with gzip",
    instead: "Unpack it first: gunzip -c file.gz | hookproof verify -",
  },
  {
    looks:
      /^(?:[0-9-]{10} )?[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} (?:[a-z0-9]{1,16} {1,8}(?:In|Out|B|M|P) {1,4})?IP6? /,
    is: "the output of tcpdump, which has packets and no whole requests",
    instead: `tcpdump -w file.pcap keeps all of it. ${FOLLOW}`,
  },
  {
    looks: /^[0-9A-Za-z.:_-]{1,100} \S{1,100} \S{1,100} \[[^\]\n]{1,60}\] "/,
    is: "a line of an access log, as nginx and Apache write it: it has neither the headers nor the body",
    instead: LISTEN,
  },
  {
    looks: /^<\?xml|^<items[ >]/,
    is: "XML, as Burp saves it",
    instead: "Give the request alone: in Burp Copy to file, in the request's menu.",
  },
  {
    looks: /^\[ {0,4}[0-9]+\.[0-9]{3}\] /,
    is: "the output of nghttp, which has frames",
    instead:
      "nghttp's headers can be given with --headers @file, one on each line, and the body with --body @file.",
  },
  {
    looks: /^[0-9]{3,9}:[0-9]{1,9}:[a-z]/,
    is: "flows of mitmproxy",
    instead: "In mitmproxy: export.file raw_request @focus request.http",
  },
  {
    looks: /^(?:https?|wget|http) .{0,200}(?:--post|:=|=@| [\w-]+:\S)/,
    is: "a command of HTTPie or wget",
    instead: `${LISTEN} Or give a curl command.`,
  },
  {
    looks: /^HTTP\/[0-9.]+ [0-9]{3}/,
    is: "an answer and no request",
    instead: "Capture what was sent, and not what came back.",
  },
];

/** What the text is, and what to do, where it is a form that is known and cannot be read. */
export function otherFormOf(start: string): { is: string; instead: string } | undefined {
  return FORMS.find(({ looks }) => looks.test(start));
}
