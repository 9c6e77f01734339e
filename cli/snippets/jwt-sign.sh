#!/usr/bin/env bash
# A token for the Authorization header of a webhook, with openssl and jq:
#   HOOKPROOF_KEY=private.pem ./jwt-sign.sh <kid> <listener URL> <tenant's base URL> <event id> < body.json
set -euo pipefail

if [[ ! -e ${HOOKPROOF_KEY:-} || $# -lt 4 ]]; then
  echo "Set HOOKPROOF_KEY to a PEM file with the private key, and give a kid, two URLs and an event id." >&2
  exit 2
fi

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
body_hash=$(openssl dgst -sha256 -binary | base64url)
header=$(jq -cjn --arg kid "$1" '{alg: "RS256", kid: $kid, typ: "JWT"}' | base64url)
claims=$(jq -cjn --arg aud "$2" --arg sub "$3" --arg jti "$4" --arg hash "$body_hash" --argjson now "$(date +%s)" \
  '{sub: $sub, aud: $aud, exp: ($now + 300), jti: $jti, htm: "POST", htb_s256: $hash}' | base64url)
signature=$(printf %s "$header.$claims" | openssl dgst -sha256 -sign "$HOOKPROOF_KEY" -binary | base64url)
echo "$header.$claims.$signature"
