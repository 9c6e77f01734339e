import type { Command } from "../command.js";
import { EXIT } from "../failure.js";

/** Each script hands the words of the line to `hookproof complete-words`, which knows the command table. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_hookproof() {
  local IFS=$'\\n'
  COMPREPLY=($(hookproof complete-words "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _hookproof hookproof`,
  zsh: `#compdef hookproof
_hookproof() {
  local -a candidates
  candidates=("\${(@f)$(hookproof complete-words "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$candidates[1]" ]]; then compadd -- $candidates; else _files; fi
}
if [[ $funcstack[1] == _hookproof ]]; then _hookproof "$@"; else compdef _hookproof hookproof; fi`,
  fish: `function __hookproof_complete
  set -l words (commandline -opc)
  set -l candidates (hookproof complete-words $words[2..-1] (commandline -ct) 2>/dev/null)
  if set -q candidates[1]; printf '%s\\n' $candidates; else; __fish_complete_path (commandline -ct); end
end
complete -c hookproof -f -a '(__hookproof_complete)'`,
  pwsh: `Register-ArgumentCompleter -Native -CommandName hookproof -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if (-not $wordToComplete) { $words += '' }
  hookproof complete-words @words 2>$null | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}`,
};

export const completion: Command = {
  name: "completion",
  details: "It completes commands, flags and their values: profiles, key ids and event ids included.",
  positionals: [{ name: "shell", required: true, describe: "the shell", choices: Object.keys(SCRIPTS) }],
  flags: {},
  examples: [
    ["source <(hookproof completion bash)", "in bash, for this session; in ~/.bashrc for every one"],
    [
      "source <(hookproof completion zsh)",
      "in zsh, after compinit; or as the file _hookproof in a folder of fpath",
    ],
    ["hookproof completion fish > ~/.config/fish/completions/hookproof.fish", "in fish"],
    ["hookproof completion pwsh | Out-String | Invoke-Expression", "in PowerShell"],
  ],
  exits: [],
  async run({ args, out }) {
    const shell = args.text("shell") ?? "";
    const script = SCRIPTS[shell] ?? "";
    out.document({ type: "completion", ok: true, shell, script });
    out.raw(script);
    return EXIT.ok;
  },
};
