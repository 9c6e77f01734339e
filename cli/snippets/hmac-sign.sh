#!/usr/bin/env bash
# The Webhook-Signature of a body on standard input, with openssl alone:
#   HOOKPROOF_SECRET=... ./sign.sh <timestamp> <event id> < body.json
set -euo pipefail

if [[ -z ${HOOKPROOF_SECRET:-} || $# -lt 2 ]]; then
  echo "Set HOOKPROOF_SECRET to the listener's secret, and give a timestamp and an event id." >&2
  exit 2
fi

# openssl takes the key as hex only where any byte may stand in it, and as an argument, which other users of the
# machine can see while it runs: sign on a machine of your own.
key=$(printf %s "$HOOKPROOF_SECRET" | od -An -v -tx1 | tr -d ' \n')
{
  printf '%s.%s.' "$1" "$2"
  cat
} | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A | tr '+/' '-_' | tr -d '='
echo
