#!/usr/bin/env bash
# Checks the Webhook-Signature of a body on standard input, with openssl alone:
#   HOOKPROOF_SECRET=... ./hmac-verify.sh <timestamp> <event id> <signature> < body.json
set -euo pipefail

if [[ -z ${HOOKPROOF_SECRET:-} || $# -lt 3 ]]; then
  echo "Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp, an event id and a signature." >&2
  exit 2
fi

refuse() { echo refused; exit 1; }
now=${4:-$(date +%s)}
[[ -n $HOOKPROOF_SECRET ]] || refuse # everybody can sign with an empty one
[[ $1 =~ ^[1-9][0-9]{0,14}$ ]] && (( $1 - now <= 300 && now - $1 <= 300 )) || refuse
# Nothing else ends the id: without its form a part of the body could be moved into it.
[[ $2 =~ ^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$ ]] || refuse

# openssl takes the key as hex only where any byte may stand in it, and as an argument, which other users of the
# machine can see while it runs: verify on a machine of your own.
key=$(printf %s "$HOOKPROOF_SECRET" | od -An -v -tx1 | tr -d ' \n')
mac() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -r | cut -c1-64; }
expected=$({
  printf '%s.%s.' "$1" "$2"
  cat
} | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A | tr '+/' '-_' | tr -d '=')

# A shell compares text byte by byte and stops early. Under a key that nobody knows, how early says nothing.
random=$(openssl rand -hex 32)
[[ $(printf %s "$expected" | mac "$random") == "$(printf %s "$3" | mac "$random")" ]] || refuse
echo genuine
