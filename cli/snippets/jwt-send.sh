#!/usr/bin/env bash
# Sends a body on standard input with a token for it, with openssl, jq and curl:
#   HOOKPROOF_KEY=private.pem ./send.sh <kid> [listener URL] [event id] < body.json
set -euo pipefail

if [[ ! -e ${HOOKPROOF_KEY:-} || $# -lt 1 ]]; then
  echo "Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid." >&2
  exit 2
fi

kid=$1
url=${2:-http://127.0.0.1:4400/api/v1/webhooks/incoming/lst_local}
# A UUID of version 4.
new_event_id() { openssl rand -hex 16 | sed -E 's/(.{8})(.{4}).(.{3}).(.{3})(.{12})/\1-\2-4\3-8\4-\5/'; }
event_id=${3:-$(new_event_id)}
base_url=${url%%/api/v1/*} # the tenant's

# A shell's variables lose bytes, a file keeps them: what is hashed is what is sent.
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cat > "$folder/body"

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
body_hash=$(openssl dgst -sha256 -binary < "$folder/body" | base64url)
header=$(jq -cjn --arg kid "$kid" '{alg: "RS256", kid: $kid, typ: "JWT"}' | base64url)
claims=$(jq -cjn --arg aud "$url" --arg sub "$base_url" --arg jti "$event_id" --arg hash "$body_hash" --argjson now "$(date +%s)" \
  '{sub: $sub, aud: $aud, exp: ($now + 300), jti: $jti, htm: "POST", htb_s256: $hash}' | base64url)
signature=$(printf %s "$header.$claims" | openssl dgst -sha256 -sign "$HOOKPROOF_KEY" -binary | base64url)

# curl reads the token from a file, as other users of the machine can see its arguments.
printf 'Authorization: Bearer %s\n' "$header.$claims.$signature" > "$folder/token"
status=$(curl --silent --show-error --max-time 10 --output "$folder/answer" --write-out '%{http_code}' \
  --header 'Content-Type: application/json' --header "Webhook-Timestamp: $(date +%s)" \
  --header "Webhook-Event-Id: $event_id" --header "@$folder/token" --data-binary "@$folder/body" "$url")
echo "$status $(cat "$folder/answer" 2> /dev/null)"
# 409 says that an earlier attempt with this id was processed.
[[ $status == 2* || $status == 409 ]]
