#!/usr/bin/env bash
# Signs a body on standard input and sends it, with openssl and curl:
#   HOOKPROOF_SECRET=... ./send.sh [listener URL] [event id] < body.json
set -euo pipefail

if [[ -z ${HOOKPROOF_SECRET:-} ]]; then
  echo "Set HOOKPROOF_SECRET to the listener's secret." >&2
  exit 2
fi

url=${1:-http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local}
# A UUID of version 4.
new_event_id() { openssl rand -hex 16 | sed -E 's/(.{8})(.{4}).(.{3}).(.{3})(.{12})/\1-\2-4\3-8\4-\5/'; }
event_id=${2:-$(new_event_id)}
timestamp=$(date +%s) # fresh for each attempt

# A shell's variables lose bytes, a file keeps them: what is signed is what is sent.
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cat > "$folder/body"

# openssl takes the key as hex only where any byte may stand in it, and as an argument, which other users of the
# machine can see while it runs: sign on a machine of your own.
key=$(printf %s "$HOOKPROOF_SECRET" | od -An -v -tx1 | tr -d ' \n')
signature=$({
  printf '%s.%s.' "$timestamp" "$event_id"
  cat "$folder/body"
} | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A | tr '+/' '-_' | tr -d '=')

status=$(curl --silent --show-error --max-time 10 --output "$folder/answer" --write-out '%{http_code}' \
  --header 'Content-Type: application/json' --header "Webhook-Timestamp: $timestamp" \
  --header "Webhook-Event-Id: $event_id" --header "Webhook-Signature: $signature" \
  --data-binary "@$folder/body" "$url")
echo "$status $(cat "$folder/answer" 2> /dev/null)"
# 409 says that an earlier attempt with this id was processed.
[[ $status == 2* || $status == 409 ]]
