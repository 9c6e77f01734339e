// Draws what a terminal shows as a picture whose words stay text.

const ESC = String.fromCharCode(27);
/** The codes of colours, as a terminal is given them. */
export const CODES = new RegExp(`${ESC}\\[(\\d+)m`, "g");
const CLASSES: Readonly<Record<string, string>> = {
  1: "bold",
  2: "dim",
  31: "red",
  32: "green",
  33: "yellow",
  36: "cyan",
};
const STYLE = `
  .ground { fill: #ffffff; stroke: #d0d7de } text { font: 13px "Liberation Mono", ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }
  .bold { font-weight: 700 } .dim { fill: #57606a } .red { fill: #a40e26 } .green { fill: #116329 } .yellow { fill: #7d4e00 } .cyan { fill: #0a4ea3 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 }
    .dim { fill: #9198a1 } .red { fill: #ff8a82 } .green { fill: #56d364 } .yellow { fill: #e3b341 } .cyan { fill: #79c0ff }
  }
`;
const [CHARACTER, LINE] = [7.8, 18];

const escaped = (text: string) => text.replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`);

/** A picture of a terminal, whose words are text: they can be read out, searched and copied. */
export function terminalPicture(words: string, text: string, columns: number): string {
  const lines = text.split("\n").map((line, at) => {
    const classes = new Set<string>();
    const spans = line.split(CODES).map((part, index) => {
      if (index % 2 === 0)
        return (
          part &&
          `<tspan${classes.size > 0 ? ` class="${[...classes].join(" ")}"` : ""}>${escaped(part)}</tspan>`
        );
      if (CLASSES[part]) classes.add(CLASSES[part]);
      else classes.clear();
      return "";
    });
    return `<text x="12" y="${24 + at * LINE}" xml:space="preserve">${spans.join("")}</text>`;
  });
  const [width, height] = [Math.ceil(columns * CHARACTER) + 24, lines.length * LINE + 20];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>hookproof ${escaped(words)}, in ${columns} columns</title>
<style>${STYLE}</style>
<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${lines.join("\n")}
</svg>
`;
}
