#!/usr/bin/env bash
# Checks the token of a webhook whose body is on standard input, with openssl and jq:
#   HOOKPROOF_KEY=public.pem ./jwt-verify.sh <listener URL> <tenant's base URL> <event id> <token> < body.json
# The key is the one of the sender's key set that the token's kid names.
set -euo pipefail

if [[ ! -e ${HOOKPROOF_KEY:-} || $# -lt 4 ]]; then
  echo "Set HOOKPROOF_KEY to a PEM file with the public key, and give two URLs, an event id and a token." >&2
  exit 2
fi

refuse() { echo refused; exit 1; }
base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
decode() { # refuses what is not the one text of its bytes
  local padded=$1
  while (( ${#padded} % 4 )); do padded+='='; done
  printf %s "$padded" | tr -- '-_' '+/' | openssl base64 -d -A > "$2" && [[ $(base64url < "$2") == "$1" ]]
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
body_hash=$(openssl dgst -sha256 -binary | base64url)
now=${5:-$(date +%s)}
[[ $3 =~ ^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$ ]] || refuse
[[ $4 =~ ^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$ ]] || refuse
header=${BASH_REMATCH[1]} claims=${BASH_REMATCH[2]} signature=${BASH_REMATCH[3]}
decode "$header" "$work/header" && decode "$claims" "$work/claims" && decode "$signature" "$work/signature" || refuse
# The algorithm is fixed here, and never chosen by the token.
jq -es 'length == 1 and (.[0] | .alg == "RS256" and (["crit", "b64", "jwk", "jku", "x5u", "x5c"] - keys | length == 6))' \
  "$work/header" > /dev/null 2>&1 || refuse
printf %s "$header.$claims" |
  openssl dgst -sha256 -verify "$HOOKPROOF_KEY" -signature "$work/signature" > /dev/null 2>&1 || refuse
jq -es --arg aud "$1" --arg sub "$2" --arg jti "$3" --arg hash "$body_hash" --argjson now "$now" '
  length == 1 and (.[0] | .sub == $sub and .aud == $aud and .htm == "POST" and .htb_s256 == $hash
  and (.jti | type == "string" and ascii_downcase == ($jti | ascii_downcase))
  and (.exp | type == "number" and . == floor and . > $now and . <= $now + 600)
  and ((has("nbf") | not) or (.nbf | type == "number" and (isnan | not) and . <= $now)))
' "$work/claims" > /dev/null 2>&1 || refuse
echo genuine
