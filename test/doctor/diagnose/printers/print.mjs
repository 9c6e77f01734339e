// What JavaScript prints; the arguments are a plain body and one with numbers.
const [plain, numbers] = process.argv.slice(2);
const value = JSON.parse(plain);
const bytes = Buffer.from(plain);
console.log(
  JSON.stringify({
    "JavaScript, JSON.stringify with 2": JSON.stringify(value, null, 2),
    "JavaScript, JSON.stringify with a tab": JSON.stringify(value, null, "\t"),
    "JavaScript, numbers": JSON.stringify(JSON.parse(numbers)),
    "JavaScript, JSON.stringify of a Buffer": JSON.stringify(bytes),
    "JavaScript, JSON.stringify of a Uint8Array": JSON.stringify(new Uint8Array(bytes)),
    "JavaScript, String of a Uint8Array": String(new Uint8Array(bytes)),
    "JavaScript, String of an object": String(value),
    "JavaScript, String of a promise": String(Promise.resolve(value)),
    "JavaScript, String of a stream": String(new Blob([plain]).stream()),
    "JavaScript, JSON.stringify twice": JSON.stringify(plain),
    "JavaScript, URLSearchParams": String(new URLSearchParams({ payload: plain })),
    "JavaScript, encodeURIComponent": encodeURIComponent(plain),
    "JavaScript, sorted with a replacer": JSON.stringify(value, (_, one) =>
      one && typeof one === "object" && !Array.isArray(one)
        ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
        : one,
    ),
    "JavaScript, top level sorted": JSON.stringify(
      Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))),
    ),
  }),
);
