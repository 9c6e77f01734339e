# Types a line and a tab into an interactive zsh, and ends when a text is on its screen: <folder> <how> <line> <text>
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1='> '; PATH='$PATH'; cd '$1'; fpath=('$1' \$fpath); autoload -Uz compinit; compinit -u -D"
[[ $2 == source ]] && zpty -w shell 'source ./_hookproof'
zpty -w shell 'echo rea""dy'
zpty -r -m shell seen '*ready*'
zpty -w -n shell "$3"$'\t'
zpty -r -m shell seen "*$4*"
zpty -d shell
