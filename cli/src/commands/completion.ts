// The command that prints completion scripts for shells.
import { existsSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Command, Context } from "../command.js";
import { EXIT, usageError } from "../failure.js";
import { unwritable } from "../files/files.js";
import type { Io } from "../io.js";
import { confirm } from "../terminal/ask.js";

/** Each script hands the words of the line to `hookproof complete-words`, which knows the command table. */
const SCRIPTS: Readonly<Record<string, string>> = {
  // A colon and = end a word in bash: words are what spaces part, and what bash has already is cut from the candidates.
  bash: `_hookproof() {
  local IFS=$'\\n' line="\${COMP_LINE:0:COMP_POINT}" breaks="\${COMP_WORDBREAKS//[^:=]/}" word
  local -a words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  if [[ -n $line && $line != *[\\"\\'\\\\]* ]]; then
    IFS=$' \\t' read -ra words <<< "$line"
    if [[ $line == *[[:space:]] ]]; then words+=(""); fi
    words=("\${words[@]:1}")
  fi
  COMPREPLY=($(hookproof complete-words "\${words[@]}" 2>/dev/null))
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
  word="\${words[\${#words[@]}-1]}"
  if [[ -n $breaks && $word == *[$breaks]* ]]; then COMPREPLY=("\${COMPREPLY[@]#"\${word%"\${word##*[$breaks]}"}"}"); fi
}
complete -o default -F _hookproof hookproof`,
  zsh: `#compdef hookproof
_hookproof() {
  local -a lines candidates ending
  local line word
  lines=("\${(@f)$(hookproof complete-words --describe "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z "$lines[1]" ]]; then _files; return; fi
  for line in $lines; do
    word="\${\${line%%$'\\t'*}//:/\\\\:}"
    if [[ "$line" == *$'\\t'* ]]; then word+=":\${line#*$'\\t'}"; fi
    candidates+=("$word")
  done
  [[ "$candidates[1]" == *= ]] && ending=(-S '')
  _describe hookproof candidates "\${(@)ending}"
}
if [[ $funcstack[1] == _hookproof ]]; then _hookproof "$@"; else compdef _hookproof hookproof; fi`,
  fish: `function __hookproof_complete
  set -l words (commandline -opc)
  set -l candidates (hookproof complete-words --describe $words[2..-1] (commandline -ct) 2>/dev/null)
  if set -q candidates[1]; printf '%s\\n' $candidates; else; __fish_complete_path (commandline -ct); end
end
complete -c hookproof -f -a '(__hookproof_complete)'`,
  pwsh: `Register-ArgumentCompleter -Native -CommandName hookproof -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if (-not $wordToComplete) { $words += '' }
  hookproof complete-words --describe @words 2>$null | ForEach-Object {
    $word, $does = $_ -split "\`t", 2
    if (-not $does) { $does = $word }
    [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $does)
  }
}`,
};

export const completion: Command = {
  name: "completion",
  details: "It completes commands, flags and their values: profiles, key ids and event ids included.",
  positionals: [{ name: "shell", required: true, describe: "the shell", choices: Object.keys(SCRIPTS) }],
  flags: {
    install: { type: "boolean", describe: "write it where the shell finds it, after asking" },
    uninstall: { type: "boolean", describe: "take away what --install wrote" },
    yes: { type: "boolean", describe: "do not ask" },
  },
  examples: [
    ["hookproof completion bash --install", "for every session; asks, and prints the file"],
    ["source <(hookproof completion bash)", "in bash, for this session; in ~/.bashrc for every one"],
    [
      "source <(hookproof completion zsh)",
      "in zsh, after compinit; or as the file _hookproof in a folder of fpath",
    ],
    ["hookproof completion fish > ~/.config/fish/completions/hookproof.fish", "in fish"],
    ["hookproof completion pwsh | Out-String | Invoke-Expression", "in PowerShell"],
  ],
  exits: [
    [3, "the file cannot be written"],
    [130, "the answer was no"],
  ],
  async run(context) {
    const { args, out } = context;
    const shell = args.text("shell") ?? "";
    const script = SCRIPTS[shell] ?? "";
    if (args.flag("install") || args.flag("uninstall")) return changeInstallation(context, shell, script);
    out.document({ type: "completion", ok: true, shell, script });
    out.raw(script);
    return EXIT.ok;
  },
};

/** Writes the script to the file where its shell looks for it, or removes that file. */
async function changeInstallation(context: Context, shell: string, script: string): Promise<number> {
  const { args, io, out } = context;
  const [file, note] = placeOf(io, shell);
  if (args.flag("install") && args.flag("uninstall"))
    throw usageError("--install and --uninstall exclude each other.");
  if (args.flag("uninstall")) {
    const removed = existsSync(file);
    rmSync(file, { force: true });
    out.document({ type: "completion", ok: true, shell, file, removed });
    out.line(`${file}  ${removed ? "removed" : "was not there"}`);
    return EXIT.ok;
  }
  await confirm(context, `Write ${file}?`, `${file} would be written.`);
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${script}\n`);
  } catch (error) {
    throw unwritable(file, error);
  }
  out.document({ type: "completion", ok: true, shell, file });
  out.line(file);
  out.note(note);
  return EXIT.ok;
}

/** The file in which a shell looks for the completion of this command, and what is to be done besides. */
function placeOf({ env }: Io, shell: string): readonly [file: string, note: string] {
  const home = env.HOME ?? homedir();
  const data = env.XDG_DATA_HOME || join(home, ".local", "share");
  const config = env.XDG_CONFIG_HOME || join(home, ".config");
  switch (shell) {
    case "bash":
      return [
        join(data, "bash-completion", "completions", "hookproof"),
        "New shells have it, where the package bash-completion is installed.",
      ];
    case "zsh":
      return [
        join(data, "zsh", "site-functions", "_hookproof"),
        `In ~/.zshrc before compinit: fpath=(${join(data, "zsh", "site-functions")} $fpath)`,
      ];
    case "fish":
      return [join(config, "fish", "completions", "hookproof.fish"), "New shells have it."];
    default:
      throw usageError(
        "PowerShell has no folder for completions.",
        "Put into $PROFILE: hookproof completion pwsh | Out-String | Invoke-Expression",
      );
  }
}
