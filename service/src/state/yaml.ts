// The reader and writer of YAML, in a file of its own, so that it is loaded when it is needed first.
export { Lexer, LineCounter, parseDocument, stringify } from "yaml";
