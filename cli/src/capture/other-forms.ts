// Names the forms of captures that cannot be read without guessing, each with the way to one that can.

interface OtherForm {
  readonly looks: RegExp;
  readonly is: string;
  readonly instead: string;
}

const FOLLOW = "In Wireshark: Follow, TCP Stream, show as Raw, save; or show as Hex Dump and save.";
const LISTEN = "Send it to hookproof listen, and export the request from the inspector.";

const PRINT_JSON =
  'Print JSON in its place. In Express: console.log(JSON.stringify({ method: req.method, url: req.originalUrl, headers: req.headers, body: rawBody.toString("base64"), isBase64Encoded: true }))';

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
    looks:
      /^(?![\s>]*(?:\{|\[\s*[{"[]))[^\n]{0,300}"[A-Z]{3,7} \S{1,200} HTTP\/[0-9.]{1,3}"|^[A-Z]{3,7} \/\S{0,200} [1-5][0-9]{2}\b|^Started [A-Z]{3,7} "|^\[GIN\] |^\[[A-Z][a-z]{2} [A-Z][a-z]{2} [^\]\n]{1,40}\] \S{1,80} \[[0-9]{3}\]: |^#(?:Software|Version|Fields): /,
    is: "a line of a server's log: it has neither the headers nor the body",
    instead: LISTEN,
  },
  {
    looks: /^meta \{\s*\n/,
    is: "a file of Bruno, which fills it when it sends",
    instead: LISTEN,
  },
  {
    looks:
      /^(?:[A-Za-z_$]{1,40} )?\{\s*(?:[A-Za-z_$][\w$]{0,60}|'[^'\n]{1,80}'): |^(?:Headers|Request|IncomingMessage|Map\([0-9]+\)) ?\{/,
    is: "what a program prints of an object, as console.log in Node and print in Python do",
    instead: PRINT_JSON,
  },
  {
    looks:
      /^\{"[^"\n]{1,80}" ?=> ?|^\{[\w-]{1,60}=|^Array\s*\(\s*\[|^array\([0-9]{1,6}\) \{|^array \(|^map\[|^&?http\.(?:Request|Header)\{|^Method: [A-Z]{3,7}, RequestUri: /,
    is: "what a program prints of an object, as Ruby, PHP, Go, Java and .NET do",
    instead: `Print JSON with method, url, headers and the body in base64, with isBase64Encoded: true. ${LISTEN}`,
  },
  {
    looks: /^(?:send: )?b['"][A-Z]{3,7} |^send: b['"]|^opening connection to |^<- "/,
    is: "what Python's or Ruby's HTTP client prints for debugging: texts with escapes",
    instead: LISTEN,
  },
  {
    looks: /^--> [A-Z]{3,7} \S{1,300}/,
    is: "the log of OkHttp",
    instead: `Write the lines between --> and --> END as a raw request, which begins with POST /path HTTP/1.1. ${LISTEN}`,
  },
  {
    looks:
      /^(?:import |from [\w.]{1,60} import |const |let |var |axios[.(]|requests\.|require\(|<\?php|using |package |#include|curl_|\$ch\b|http\.request)/,
    is: "program code, which does not say what was sent",
    instead: LISTEN,
  },
  {
    looks: /^(?:Request URL:?\s|Summary\r?\nURL: |:[a-z]{4,9}\r?\n|General\r?\n)/,
    is: "copied from a browser's panel, which has no body",
    instead: "Use Copy as cURL in the menu of the request, or Save all as HAR.",
  },
  {
    looks:
      /^(?:No\.\s{1,20}Time\s|Frame [0-9]{1,9}: |Hyper[Tt]ext Transfer Protocol|char peer[0-9]_|(?:# Packet [0-9]{1,9}\r?\n)?peer[0-9]_[0-9]{1,9}: |(?:# [^\n]{1,80}\n)?peers:)/,
    is: "what Wireshark writes of packets as text, C or YAML",
    instead: FOLLOW,
  },
  {
    looks: /^(?:interface: |[TU] \S{1,60} -> \S{1,60} \[|\t0x[0-9a-f]{4}: {2})/,
    is: "packets as ngrep or tcpdump print them, and no whole request",
    instead: `tcpdump -w file.pcap keeps all of it. ${FOLLOW}`,
  },
  {
    looks: /^[0-9]{7} +(?:[0-9a-f]{4} |[\\ -~])/,
    is: "a dump of od or hexdump, whose bytes are put together to words",
    instead: "Dump it with xxd, or with hexdump -C.",
  },
  {
    looks: /^<(?:!doctype|html)\b/i,
    is: "an HTML page",
    instead: "Capture what was sent, and not a page.",
  },
  {
    looks: /^(?:Bearer )?eyJ[\w-]{4,}\.[\w-]{2,}\.[\w-]*\s*$/,
    is: "a token, and no request",
    instead: "hookproof inspect <token> takes it apart; verify needs the whole request, with the body.",
  },
  {
    looks: /^(?:<\?xml[^>\n]{0,200}>\s*)?<charles-session[ >]/,
    is: "a session of Charles as XML",
    instead: "In Charles: File, Export Session, as HTTP Archive (.har) or as JSON Session.",
  },
  {
    looks: /^(?:---\s*\n)?(?:http_)?interactions:\s*\n/,
    is: "a cassette of VCR in YAML",
    instead:
      "Record it as JSON: vcr.VCR(serializer='json') in Python, serialize_with: :json in Ruby. Then give that file.",
  },
  {
    looks:
      /^(?:[0-9T:.+Z-]{19,32}[ \t](?:\S{1,100} )?)?(?:\([0-9a-f-]{36}\) |(?:START|END|REPORT) RequestId: |INIT_START |(?:\[[A-Z]{4,8}\][ \t])?[0-9T:.-]{19,26}Z[ \t][0-9a-f-]{36}[ \t]|[0-9a-f-]{36}[ \t](?:INFO|WARN|ERROR|DEBUG|TRACE)[ \t])/,
    is: "lines of CloudWatch, with times and ids between what was logged",
    instead: `Log the event as JSON, console.log(JSON.stringify(event)) or print(json.dumps(event)), and give that JSON alone. ${LISTEN}`,
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
    looks:
      /^(?:\$ )?(?:(?:cat|echo|printf) [^\n|]{0,400}\| ?)?(?:https?|xhs?|wget) (?![0-9]{4}-)[^\n]{0,300}(?:--post|--raw|:=|=@| [\w-]+:\S| [\w-]+=\S)/,
    is: "a command of HTTPie, xh or wget",
    instead: `${LISTEN} Or give a curl command.`,
  },
  {
    looks: /^[A-Z]{3,8} \S+ HTTP\/[0-9.]{1,3}(?:\^M|\$)/,
    is: "a request with signs in place of its line ends, as cat -A and vim show it",
    instead: "Give the file itself, and not what shows it.",
  },
  {
    looks: /^(?:DEBUG output created by Wget |Setting --\S{1,40} \(|---request begin---)/,
    is: "what wget -d prints, which cuts and escapes bodies",
    instead: LISTEN,
  },
  {
    looks: /^type: collection\.insomnia\.rest\//,
    is: "an export of Insomnia in YAML",
    instead: "Export it as Insomnia v4 (JSON), or copy the request as curl.",
  },
  {
    looks: /^[A-Z]{3,8} https?:\/\/\S{1,400}\r?\n\r?\n(?:[A-Z]{3,8} data|Actual [A-Z]{3,8} data):/,
    is: "what JMeter shows of a request",
    instead: LISTEN,
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
